import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

private struct Unencodable: Codable, Sendable {
    func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: "never"))
    }
}

@Suite(.timeLimit(.minutes(10))) struct EnqueueTests {
    @Test(arguments: WorkspaceKind.allCases)
    func anEnqueuedValueIsVisibleAtOnceInEveryWayOfReading(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace(.init(durability: .process)) { workspace in
            let settings = workspace.dictionary("settings")
            try await settings.setAll([("a", 1), ("b", 1)])
            try await workspace.compact()
            for round in 0..<200 {
                settings.enqueue(round, forKey: "a")
                settings.enqueueRemoval(forKey: "b")
                settings.enqueue([round], forKey: "c")
                #expect(try settings["a", as: Int.self] == round)
                #expect(try settings.entry(forKey: "a", as: Int.self).value == round)
                #expect(try !settings.contains("b"))
                #expect(try settings["c", as: [Int].self] == [round])
                #expect(try settings.keys == ["a", "c"])
                #expect(try settings.count == 2)
                #expect(
                    try workspace.read { try $0.value(forKey: "a", as: Int.self, in: settings) }
                        == round)
                settings.enqueue(-round, forKey: "b")
                #expect(try settings["b", as: Int.self] == -round)
            }
            try await workspace.synchronize()
            #expect(try settings["a", as: Int.self] == 199)
            #expect(try settings.keys == ["a", "b", "c"])
        }
    }

    @Test func whatWasEnqueuedIsThereAfterSynchronizeAndAfterClose() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path + "/original")
            let settings = workspace.dictionary("settings")
            let large = [UInt8](repeating: 7, count: 100_000)
            for number in 0..<500 { settings.enqueue(number, forKey: "\(number % 50)") }
            settings.enqueue(large, forKey: "large")
            try await workspace.synchronize()
            // As a crash would leave it.
            try copyDirectory(path + "/original", to: path + "/copy")
            for number in 0..<50 { settings.enqueue(-number, forKey: "\(number)") }
            try await workspace.close()
            for (name, sign) in [("copy", 1), ("original", -1)] {
                let again = try await Workspace.open(at: path + "/" + name)
                let settings = again.dictionary("settings")
                for number in 0..<50 {
                    let expected = sign > 0 ? 450 + number : -number
                    #expect(try settings["\(number)", as: Int.self] == expected)
                }
                #expect(try settings["large", as: [UInt8].self] == large)
                try await again.close()
            }
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func enqueuedWritesHaveTheirPlaceAmongAllOthers(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace(.init(shardCount: 2, durability: .process)) { workspace in
            let settings = workspace.dictionary("settings")
            let changes = settings.changes(forKey: "a", as: Int.self, bufferCapacity: 10_000)
            var expected: [Int] = []
            for round in 0..<60 {
                settings.enqueue(4 * round, forKey: "a")
                settings.enqueue(4 * round + 1, forKey: "a")
                let (key, value) = ("a", 4 * round + 2)
                switch round % 5 {
                case 0: try await settings.set(value, forKey: key)
                case 1: try await settings.set(value, forKey: key, durability: .synced)
                case 2: try await settings.setAll([(key, value), ("b", 1)], durability: .synced)
                case 3:
                    try await workspace.transaction { try $0.set(value, forKey: key, in: settings) }
                default:
                    let entry = try settings.entry(forKey: key, as: Int.self)
                    #expect(entry.value == 4 * round + 1)
                    try await settings.replace(entry, with: value)
                }
                expected += [4 * round, 4 * round + 1, value]
                #expect(try settings["a", as: Int.self] == value)
            }
            let told = try await changes.first(expected.count).map { change -> Int in
                if case .set(_, let value, _) = change { value } else { -1 }
            }
            #expect(told == expected)
            settings.enqueue(1, forKey: "a")
            try await settings.removeAll()
            #expect(try settings["a", as: Int.self] == nil)
        }
    }

    /// The story: a batch waits for its sync; one of its keys is enqueued. The value is seen at
    /// once, and it is the last one once both are through.
    @Test func anEnqueuedWriteBehindABatchThatWaitsForItsSyncStaysTheNewest() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData(let name) = call, name.hasPrefix("log") { gate.pass() }
            }
            let configuration = Workspace.Configuration(shardCount: 2, durability: .process)
            let workspace = try await Workspace.open(
                at: path, configuration: configuration, fileSystem: fileSystem)
            let settings = workspace.dictionary("settings")
            var updates = settings.updates(of: "a", as: Int.self).makeAsyncIterator()
            #expect(await updates.next() == .some(nil))
            gate.close()
            async let batch: Void = settings.setAll(
                (0..<8).map { ("b\($0)", 1) } + [("a", 1)], durability: .synced)
            await gate.waitForArrival()
            settings.enqueue(2, forKey: "a")
            settings.enqueue(3, forKey: "c")
            #expect(try settings["a", as: Int.self] == 2)
            #expect(try settings["b1", as: Int.self] == nil)
            var late = settings.updates(of: "a", as: Int.self).makeAsyncIterator()
            #expect(await late.next() == 2)
            async let synchronized: Void = workspace.synchronize()
            async let later: Void = settings.set(4, forKey: "a")
            for _ in 0..<100 { await Task.yield() }
            #expect(try settings["a", as: Int.self] == 2)
            gate.open()
            try await batch
            try await later
            try await synchronized
            #expect(try settings["a", as: Int.self] == 4)
            #expect(try settings["b1", as: Int.self] == 1)
            #expect(await late.next() == 4)
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            #expect(try again.dictionary("settings")["a", as: Int.self] == 4)
            #expect(try again.dictionary("settings")["c", as: Int.self] == 3)
            try await again.close()
        }
    }

    /// The story: a transaction has read a key and waits for its sync; the key is enqueued, after it; a
    /// second transaction reads what is enqueued and writes elsewhere. Were its record to come into the
    /// log before the enqueued one, a crash could take what it rests on and leave it.
    @Test func aTransactionThatReadAnEnqueuedWriteComesBehindIt() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData(let name) = call, name.hasPrefix("log") { gate.pass() }
            }
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 4, durability: .process),
                fileSystem: fileSystem)
            let settings = workspace.dictionary("settings")
            try await settings.set("old", forKey: "k")
            gate.close()
            async let first: Void = workspace.transaction(durability: .synced) { tx in
                _ = try tx.value(forKey: "k", as: String.self, in: settings)
                for number in 0..<8 { try tx.set(1, forKey: "first\(number)", in: settings) }
            }
            await gate.waitForArrival()
            settings.enqueue("new", forKey: "k")
            async let second = workspace.transaction { tx in
                let seen = try tx.value(forKey: "k", as: String.self, in: settings)
                for number in 0..<8 {
                    try tx.set(seen ?? "", forKey: "second\(number)", in: settings)
                }
                return seen
            }
            async let third = workspace.transaction { tx in
                try tx.set(try tx.keys(of: settings, prefix: "k"), forKey: "third", in: settings)
            }
            try await Task.sleep(for: .milliseconds(50))
            #expect(try !settings.contains("second1"))
            gate.open()
            try await first
            #expect(try await second == "new")
            try await third
            let version = try settings.entry(forKey: "k", as: String.self).version
            #expect(try settings.entry(forKey: "second1", as: String.self).version > version)
            #expect(try settings.entry(forKey: "third", as: [String].self).version > version)
            try await workspace.close()
        }
    }

    @Test func watchersThatBeginWithAnEnqueuedValueAreNotToldItAgain() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let settings = workspace.dictionary("settings")
        for round in 0..<300 {
            let told = Told<Int>()
            settings.enqueue(round, forKey: "a")
            let subscription = settings.subscribe("a", of: Int.self) { told.add($0) }
            try await settings.set(-1, forKey: "a")
            await told.waitFor(2)
            #expect(told.all == [.initial(round), .updated(-1)])
            subscription.cancel()
        }
        try await workspace.close()
    }

    /// The story: a batch waits for its sync, and one of its keys is removed behind it. Who began to watch then was told that
    /// there is no value, and after that the batch's.
    @Test func aWatcherThatBeginsWithAnEnqueuedRemovalIsNotToldWhatComesBeforeIt() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData(let name) = call, name.hasPrefix("log") { gate.pass() }
            }
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 2, durability: .process),
                fileSystem: fileSystem)
            let settings = workspace.dictionary("settings")
            gate.close()
            async let batch: Void = settings.setAll([("a", 1), ("b", 1)], durability: .synced)
            await gate.waitForArrival()
            settings.enqueueRemoval(forKey: "a")
            let told = Told<Int>()
            let subscription = settings.subscribe("a", of: Int.self) { told.add($0) }
            await told.waitFor(1)
            gate.open()
            try await batch
            try await workspace.synchronize()
            try await settings.set(2, forKey: "a")
            await told.waitFor(2)
            #expect(told.all == [.initial(nil), .updated(2)])
            subscription.cancel()
            try await workspace.close()
        }
    }

    // MARK: Failures

    @Test func whatIsWrongAtOnceIsReturnedAndToldAndThrownOnce() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let failures = workspace.failures
        try await settings.set(1, forKey: "a")
        let refused = settings.enqueue(Unencodable(), forKey: "a")
        #expect(throws: RoostError.self) { try refused.get() }
        settings.enqueue(1, forKey: String(repeating: "k", count: 70_000))
        #expect(try settings["a", as: Int.self] == 1)
        #expect(try await failures.first(2).map(\.code) == [.encodingFailed, .keyTooLarge])
        await expectCode(.encodingFailed) { try await workspace.synchronize() }
        try await workspace.synchronize()
        settings.enqueue(1, forKey: String(repeating: "k", count: 70_000))
        await expectCode(.keyTooLarge) { try await workspace.close() }
        #expect(settings.enqueue(2, forKey: "a").failureCode == .closed)
    }

    /// The story: the disk is full, so no segment can be had for what was enqueued.
    @Test func aWriteThatFailsBehindIsToldAndTheOlderValueIsBack() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process),
                fileSystem: plan.fileSystem())
            let settings = workspace.dictionary("settings")
            try await settings.set([UInt8](repeating: 1, count: 10), forKey: "a")
            let told = Told<[UInt8]>()
            let subscription = settings.subscribe("a", of: [UInt8].self) { told.add($0) }
            await told.waitFor(1)
            let failures = workspace.failures
            // Larger than the segment: the append needs a new file.
            plan.failNext()
            settings.enqueue([UInt8](repeating: 2, count: 2 << 20), forKey: "a")
            let failure = try #require(try await failures.first(1).first)
            #expect(failure.code == .io && failure.message.contains("\"a\" in \"settings\""))
            #expect(try settings["a", as: [UInt8].self]?.count == 10)
            await expectCode(.io) { try await workspace.synchronize() }
            plan.stopFailing()
            settings.enqueue([UInt8](repeating: 3, count: 2 << 20), forKey: "a")
            try await workspace.synchronize()
            #expect(try settings["a", as: [UInt8].self]?.first == 3)
            withExtendedLifetime(subscription) {}
            try await workspace.close()
        }
    }

    @Test func whatWaitsIsBounded() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData(let name) = call, name.hasPrefix("log") { gate.pass() }
            }
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process), fileSystem: fileSystem)
            let settings = workspace.dictionary("settings")
            gate.close()
            async let batch: Void = settings.setAll(
                [("a", [UInt8]()), ("b", [])], durability: .synced)
            await gate.waitForArrival()
            let value = [UInt8](repeating: 1, count: 8 << 20)
            var codes: [RoostError.Code?] = []
            for _ in 0..<10 { codes.append(settings.enqueue(value, forKey: "a").failureCode) }
            #expect(codes == Array(repeating: nil, count: 8) + [.outOfSpace, .outOfSpace])
            gate.open()
            try await batch
            await expectCode(.outOfSpace) { try await workspace.synchronize() }
            #expect(settings.enqueue(value, forKey: "a").failureCode == nil)
            try await workspace.close()
        }
    }

    @Test func aReadOnlyWorkspaceRefuses() async throws {
        try await withTemporaryDirectory { path in
            try await Workspace.open(at: path).close()
            let workspace = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            #expect(workspace.dictionary("d").enqueue(1, forKey: "a").failureCode == .readOnly)
            await #expect(throws: RoostError.self) { try await workspace.close() }
        }
    }
}

extension Result where Success == Void, Failure == RoostError {
    fileprivate var failureCode: RoostError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

private func expectCode(
    _ code: RoostError.Code, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("did not throw \(code)")
    } catch {
        #expect((error as? RoostError)?.code == code, "\(error)")
    }
}
