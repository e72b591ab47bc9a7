import Roost
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// Holds the syncs of the log, each at a gate of its own, and fails a call.
private final class StoppingDisk: Sendable {
    let gates: [Gate]
    private let stopped = Atomic<Bool>(false)
    private let syncCount = Atomic<Int>(0)
    private let failing = Atomic<Bool>(false)
    /// Whether the next call but a sync fails.
    var failsNext: Bool {
        get { failing.load(ordering: .sequentiallyConsistent) }
        set { failing.store(newValue, ordering: .sequentiallyConsistent) }
    }

    init(syncCount: Int) { gates = (0..<syncCount).map { _ in Gate() } }

    func stop() {
        for gate in gates { gate.close() }
        stopped.store(true, ordering: .sequentiallyConsistent)
    }

    var fileSystem: ObservedFileSystem {
        ObservedFileSystem { [self] call in
            guard stopped.load(ordering: .sequentiallyConsistent) else { return }
            if case .syncData(let name) = call {
                guard name.hasPrefix("log") else { return }
                let number = syncCount.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
                if number < gates.count { gates[number].pass() }
            } else if failing.exchange(false, ordering: .sequentiallyConsistent) {
                throw RoostError(.io, "the test let this call fail: \(call)")
            }
        }
    }
}

private final class Runs: Sendable {
    private let noted = Atomic<Int>(0)
    var count: Int { noted.load(ordering: .sequentiallyConsistent) }
    /// Which run it is.
    func note() -> Int { noted.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
}

/// Does something as the first transaction begins.
private final class AtTransactions: WorkspaceObserver {
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    func began(_ kind: ObservedOperation.Kind) -> (any ObservedSpan)? {
        guard kind == .transaction else { return nil }
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
        return nil
    }
}

@Suite struct UnchangedTests {
    /// Runs `body` and returns how many batches it wrote.
    private func batches(
        of workspace: Workspace, _ body: () async throws -> Void
    ) async throws -> UInt64 {
        let before = workspace.statistics.lastSequence
        try await body()
        return workspace.statistics.lastSequence - before
    }

    /// The story: `update` has lost three rounds to batches; what its transaction reads is enqueued behind a fourth, and
    /// the disk is full when that is written. It had said that the value stands.
    @Test(.timeLimit(.minutes(5)))
    func anUpdateDoesNotConfirmAnEnqueuedValueThatIsLost() async throws {
        try await withTemporaryDirectory { path in
            let disk = StoppingDisk(syncCount: 4)
            let observer = AtTransactions()
            let workspace = try await Workspace.open(
                at: path,
                configuration: .init(shardCount: 1, durability: .process, observer: observer),
                fileSystem: disk.fileSystem)
            let settings = workspace.dictionary("settings")
            let key = Key<[UInt8]>("k", default: [])
            try await settings.set([0], for: key)
            observer.set {
                // Larger than the segment: the append needs a new file.
                settings.enqueue([UInt8](repeating: 9, count: 2 << 20), forKey: "k")
            }
            disk.stop()
            let runs = Runs()
            func waitForRuns(_ count: Int) async throws {
                while runs.count < count { try await Task.sleep(for: .milliseconds(1)) }
                await disk.gates[count - 1].waitForArrival()
            }
            let shard = workspace.engine.shards[0]
            func waitForQueue(_ count: Int) async throws {
                while shard.turn.withLock({ $0.queue.count }) < count {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            var batches: [Task<Void, any Error>] = []
            func beginBatch(_ number: Int) {
                let entries = [("k", [UInt8(number)]), ("other", [UInt8(number)])]
                batches.append(
                    Task { try await settings.setAll(entries, durability: .synced) })
            }
            beginBatch(1)
            await disk.gates[0].waitForArrival()
            let update = Task {
                try await settings.update(key) { value in
                    if runs.note() < 4 { value.append(7) }
                    return value.first
                }
            }
            for round in 1...3 {
                try await waitForRuns(round)
                // What follows a run waits for the batch at the gate, and the next batch comes behind that.
                try await waitForQueue(1)
                beginBatch(round + 1)
                try await waitForQueue(2)
                disk.gates[round - 1].open()
            }
            try await waitForRuns(4)
            // A call that confirmed what is only enqueued would have the time to end.
            try await Task.sleep(for: .milliseconds(50))
            disk.failsNext = true
            disk.gates[3].open()
            let result = try await update.value
            for batch in batches { try await batch.value }
            await #expect(throws: RoostError.self) { try await workspace.synchronize() }
            #expect(!disk.failsNext)
            #expect(result == 4)
            #expect(try settings["k", as: [UInt8].self] == [4])
            try await workspace.close()
        }
    }

    /// The story: `update` reads an enqueued value and leaves it as it is. While it does, the write is given up, as the disk
    /// is full; so nothing was enqueued any more when it asked, and it said that the value stands.
    @Test(.timeLimit(.minutes(5)))
    func anUpdateDoesNotConfirmAnEnqueuedValueThatIsLostMeanwhile() async throws {
        try await withTemporaryDirectory { path in
            let disk = StoppingDisk(syncCount: 0)
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process),
                fileSystem: disk.fileSystem)
            let settings = workspace.dictionary("settings")
            let key = Key<[UInt8]>("k", default: [])
            try await settings.set([1], for: key)
            let shard = workspace.engine.shards[0]
            let name = DictionaryName("settings")!
            let hash = workspace.engine.hash(of: "k", in: name)
            let token = BatchToken()
            try await shard.prepare(
                StagedBatch(token: token, claim: shard.claim("k", name, hash: hash)))
            // Larger than the segment: the append needs a new file.
            let large = [UInt8](repeating: 9, count: 2 << 20)
            try settings.enqueue(large, forKey: "k").get()
            disk.stop()
            disk.failsNext = true
            let runs = Runs()
            try await settings.update(key) { value in
                if runs.note() == 1 {
                    token.abort()
                    shard.foldResolved()
                }
                value = large
            }
            #expect(!disk.failsNext)
            let found = try settings["k", as: [UInt8].self]
            #expect(found?.count == large.count)
            await #expect(throws: RoostError.self) { try await workspace.synchronize() }
            try await workspace.close()
        }
    }

    /// Nothing is written, and what was found is on disk all the same when the call returns.
    @Test func whatNeedsNoWriteIsAsDurableAsAskedFor() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process))
            let values = workspace.dictionary("values")
            func isDurable() -> Bool {
                let statistics = workspace.statistics
                return statistics.durableSequence == statistics.lastSequence
            }
            try await values.set(1, forKey: "k", durability: .synced)
            try await values.removeValue(forKey: "k")
            let written = try await batches(of: workspace) { () async throws in
                try await values.update("k", as: Int.self, durability: .synced) { $0 = nil }
            }
            #expect(written == 0 && isDurable())

            try await values.set(2, forKey: "k")
            let read = try await batches(of: workspace) { () async throws in
                let value = try await workspace.transaction(durability: .synced) {
                    try $0.value(forKey: "k", as: Int.self, in: values)
                }
                #expect(value == 2)
            }
            #expect(read == 0 && isDurable())
            try await workspace.close()
        }
    }

    @Test func anEqualValueIsNotWrittenAgainAndTheCallSaysSo() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        let written = try await batches(of: workspace) { () async throws in
            #expect(try await values.set(7, forKey: "n", onlyIfChanged: true))
            #expect(
                try await values.set(
                    Profile(name: "Ada", age: 36), forKey: "p", onlyIfChanged: true))
            #expect(try await values.set(Point(x: 1, y: 2), forKey: "b", onlyIfChanged: true))
            #expect(try await values.set(.dark, for: .theme, onlyIfChanged: true))
        }
        #expect(written == 4)
        for isCold in [false, true] {
            if isCold { try await workspace.compact() }
            let repeated = try await batches(of: workspace) { () async throws in
                #expect(try await !values.set(7, forKey: "n", onlyIfChanged: true))
                #expect(
                    try await !values.set(
                        Profile(name: "Ada", age: 36), forKey: "p", onlyIfChanged: true))
                #expect(try await !values.set(Point(x: 1, y: 2), forKey: "b", onlyIfChanged: true))
                #expect(try await !values.set(.dark, for: .theme, onlyIfChanged: true))
            }
            #expect(repeated == 0)
        }
        let changed = try await batches(of: workspace) { () async throws in
            #expect(try await values.set(8, forKey: "n", onlyIfChanged: true))
            #expect(
                try await values.set(
                    Profile(name: "Ada", age: 37), forKey: "p", onlyIfChanged: true))
            #expect(try await values.set(.light, for: .theme, onlyIfChanged: true))
        }
        #expect(changed == 3)
        #expect(try values["n", as: Int.self] == 8)
        #expect(try values["p", as: Profile.self]?.age == 37)
        #expect(try values[.theme] == .light)
        try await workspace.close()
    }

    @Test func withoutTheWishEveryCallWrites() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(7, forKey: "n")
        let written = try await batches(of: workspace) { () async throws in
            #expect(try await values.set(7, forKey: "n", onlyIfChanged: false))
        }
        #expect(written == 1)
        try await workspace.close()
    }

    @Test func equalIsWhatTheTypeSays() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(Tag(text: "Swift"), forKey: "tag")
        #expect(try await !values.set(Tag(text: "SWIFT"), forKey: "tag", onlyIfChanged: true))
        #expect(try values["tag", as: Tag.self]?.text == "Swift")
        try await workspace.close()
    }

    @Test func anEqualValueOfAnotherCoderIsEqual() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(Profile(name: "Ada", age: 36), forKey: "p", coder: .json)
        #expect(
            try await !values.set(Profile(name: "Ada", age: 36), forKey: "p", onlyIfChanged: true))
        try await workspace.close()
    }

    @Test func aValueOfAnotherTypeIsAChange() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set("7", forKey: "n")
        #expect(try await values.set(7, forKey: "n", onlyIfChanged: true))
        try await values.set(Label(text: "x"), forKey: "p")
        #expect(try await values.set(Profile(name: "x", age: 1), forKey: "p", onlyIfChanged: true))
        #expect(try values["n", as: Int.self] == 7)
        #expect(try values["p", as: Profile.self]?.name == "x")
        try await workspace.close()
    }

    @Test func anOptionalKeyIsRemovedOnceAndADefaultIsNotStored() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        #expect(try await !values.set(nil, for: .nickname, onlyIfChanged: true))
        #expect(try await values.set("ada", for: .nickname, onlyIfChanged: true))
        #expect(try await values.set(nil, for: .nickname, onlyIfChanged: true))
        #expect(try await !values.set(nil, for: .nickname, onlyIfChanged: true))
        #expect(try await values.set(0, for: .launches, onlyIfChanged: true))
        #expect(try values.keys == ["launches"])
        try await workspace.close()
    }

    @Test func whatIsNotWrittenAgainIsAsDurableAsAsked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process))
            let values = workspace.dictionary("values")
            try await values.set(7, forKey: "n", durability: .process)
            let written = workspace.statistics.lastSequence
            #expect(workspace.statistics.durableSequence < written)
            #expect(
                try await !values.set(7, forKey: "n", onlyIfChanged: true, durability: .process))
            #expect(workspace.statistics.durableSequence < written)
            #expect(try await !values.set(7, forKey: "n", onlyIfChanged: true, durability: .synced))
            #expect(workspace.statistics.durableSequence >= written)
            try await workspace.close()
        }
    }

    @Test func aCallThatWouldWriteNothingFailsWhereAWriteWould() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("d").set(7, forKey: "n")
            try await workspace.close()
            let readOnly = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            let error = await #expect(throws: RoostError.self) {
                try await readOnly.dictionary("d").set(7, forKey: "n", onlyIfChanged: true)
            }
            #expect(error?.code == .readOnly)
            try await readOnly.close()
        }
    }

    @Test func amongManyWritersTheLastOfEachToggleIsNeverLost() async throws {
        // Each task alone sets its value, others set theirs in between: a call that says that it
        // wrote nothing must have seen its value stored.
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var writes = 0
                    for _ in 0..<500
                    where try await values.set(writer % 2, forKey: "n", onlyIfChanged: true) {
                        writes += 1
                    }
                    return writes
                }
            }
            var written = 0
            for try await writes in group { written += writes }
            #expect(UInt64(written) == workspace.statistics.lastSequence)
        }
        let last = try #require(try values["n", as: Int.self])
        #expect(try await !values.set(last, forKey: "n", onlyIfChanged: true))
        try await workspace.close()
    }
}
