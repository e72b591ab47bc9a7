import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@Suite struct FollowingTests {
    private let readOnly = Workspace.Configuration(access: .readOnly)

    @Test func aReaderBesideAWriterSeesWhatIsThereAndWhatComes() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(at: path)
            let written = writer.dictionary("values")
            try await written.set(1, forKey: "before")
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("values")
            #expect(try read["before", as: Int.self] == 1)
            for number in 0..<1000 { try await written.set(number, forKey: "key-\(number % 100)") }
            try await written.removeValue(forKey: "before")
            try await reader.catchUp()
            #expect(try read["before", as: Int.self] == nil)
            #expect(try read.count == 100)
            for number in 900..<1000 {
                #expect(try read["key-\(number % 100)", as: Int.self] == number)
            }
            let status = try #require(reader.following)
            #expect(status.sequence == writer.statistics.lastSequence)
            #expect(status.isWriterOpen)
            #expect(writer.following == nil)
            try await reader.close()
            try await writer.close()
        }
    }

    /// A killed writer leaves a segment that it had made ahead. An opening that writes nothing takes it away with
    /// its own, so that the next one begins with a number that the reader has gone past.
    @Test func aReaderGoesOnBehindAnOpeningThatWroteNothing() async throws {
        try await withTemporaryDirectory { path in
            let first = try await Workspace.open(at: path)
            try await first.dictionary("values").set(1, forKey: "a")
            try await first.close()
            let last = try #require(
                FileManager.default.contentsOfDirectory(atPath: path).filter {
                    $0.hasPrefix("log-")
                }.max())
            let number = try #require(Int(last.dropFirst(4)))
            let ahead = "\(path)/log-" + String(format: "%012d", number + 1)
            try #require(FileManager.default.createFile(atPath: ahead, contents: Data(count: 4096)))

            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let idle = try await Workspace.open(at: path)
            try await reader.catchUp()
            try await idle.close()
            let writer = try await Workspace.open(at: path)
            try await writer.dictionary("values").set(2, forKey: "a")
            try await reader.catchUp()
            #expect(try reader.dictionary("values")["a", as: Int.self] == 2)
            // And beyond that segment.
            for number in 3...5 {
                try await writer.dictionary("values").set(Data(count: 2 << 20), forKey: "large")
                try await writer.dictionary("values").set(number, forKey: "a")
                try await reader.catchUp()
                #expect(try reader.dictionary("values")["a", as: Int.self] == number)
            }
            try await reader.close()
            try await writer.close()
        }
    }

    /// The segment that the reader began with is another's by then, with the same number.
    @Test func whatComesBehindAnOpeningThatWroteNothingIsInTheHistoryOfAReader() async throws {
        try await withTemporaryDirectory { path in
            let first = try await Workspace.open(at: path)
            try await first.dictionary("values").set(1, forKey: "a")
            let version = first.statistics.lastSequence
            try await first.close()
            let idle = try await Workspace.open(at: path)
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            try await idle.close()
            let writer = try await Workspace.open(at: path)
            try await writer.dictionary("values").set(2, forKey: "a")
            try await reader.catchUp()
            let changes = reader.dictionary("values").changes(as: Int.self, since: version)
            #expect(
                try await changes.first(1) == [.set(key: "a", value: 2, version: version + 1)])
            try await reader.close()
            try await writer.close()
        }
    }

    /// The writer makes a segment after the reader has not found it, and before the reader lists the directory.
    @Test func aSegmentThatIsMadeWhileItIsLookedForEndsNoReader() async throws {
        try await withTemporaryDirectory { path in
            let first = try await Workspace.open(at: path)
            try await first.dictionary("values").set(1, forKey: "a")
            try await first.close()
            let writer = try await Workspace.open(at: path)
            let refusedCount = Mutex(0)
            let fileSystem = ObservedFileSystem { _ in }.onResource { call in
                guard case .open(let name) = call, name.hasPrefix("log-") else { return }
                try refusedCount.withLock { count in
                    // Each second look meets the moment before the segment was made.
                    count += 1
                    guard count % 2 == 0 else {
                        throw RoostError(.io, "could not open: No such file", file: name)
                    }
                }
            }
            let reader = try await Workspace.open(
                at: path, configuration: readOnly, fileSystem: fileSystem)
            for number in 2...4 {
                try await writer.dictionary("values").set(Data(count: 2 << 20), forKey: "large")
                try await writer.dictionary("values").set(number, forKey: "a")
                try await reader.catchUp()
                #expect(try reader.dictionary("values")["a", as: Int.self] == number)
            }
            #expect(refusedCount.withLock { $0 } > 2)
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func aReaderFollowsWithoutBeingAsked() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(at: path)
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("values")
            for number in 1...20 {
                try await writer.dictionary("values").set(number, forKey: "a")
                try await eventually { try read["a", as: Int.self] == number }
            }
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func watchersOfAReaderAreToldOfEveryBatchInOrder() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(at: path)
            let written = writer.dictionary("values")
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let changes = reader.dictionary("values").changes(as: Int.self)
            let updates = reader.dictionary("values").updates(of: "last", as: Int.self)
            let told = Task {
                var keys: [String] = []
                for await change in changes {
                    guard case .set(let key, _, _) = change else { continue }
                    keys.append(key)
                    if key == "last" { break }
                }
                return keys
            }
            let last = Task {
                for try await value in updates where value != nil { return value }
                return nil
            }
            for number in 0..<200 { try await written.set(number, forKey: "key-\(number)") }
            try await writer.write { batch in
                batch.set(1, forKey: "first", in: written)
                batch.set(2, forKey: "last", in: written)
            }
            let keys = await told.value
            #expect(keys == (0..<200).map { "key-\($0)" } + ["first", "last"])
            #expect(try await last.value == 2)
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func noBatchIsSeenByHalfAndNoneGoesBack() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(
                at: path, configuration: .init(memoryBudgetBytes: 0))
            let written = writer.dictionary("pairs")
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("pairs")
            let writing = Task {
                for number in 1...3000 {
                    try await writer.write(durability: .process) { batch in
                        for key in 0..<8 { batch.set(number, forKey: "key-\(key)", in: written) }
                    }
                    if number % 500 == 0 { try await writer.compact() }
                }
            }
            var newest = 0
            while newest < 3000 {
                let view = try reader.readView()
                let numbers = try (0..<8).map {
                    try view.value(forKey: "key-\($0)", as: Int.self, in: read) ?? 0
                }
                #expect(Set(numbers).count == 1, "\(numbers)")
                #expect(numbers[0] >= newest)
                newest = numbers[0]
                view.close()
                // Of two looks at single keys the later one is no older.
                let first = try read["key-0", as: Int.self] ?? 0
                let second = try read["key-7", as: Int.self] ?? 0
                #expect(second >= first)
                newest = max(newest, second)
                await Task.yield()
            }
            try await writing.value
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func compactionsAndTheirRemovedFilesDoNotDisturbAReader() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(at: path)
            let written = writer.dictionary("values")
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("values")
            for round in 0..<5 {
                for number in 0..<200 {
                    try await written.set(round * 1000 + number, forKey: "key-\(number)")
                }
                try await written.removeValue(forKey: "key-\(round)")
                if round == 3 { try await written.removeAll() }
                try await writer.compact()
                try await reader.catchUp()
                #expect(try read.count == written.count)
                for number in 0..<200 {
                    let key = "key-\(number)"
                    #expect(try read[key, as: Int.self] == written[key, as: Int.self])
                }
                // What is in snapshots is held in no table.
                try await eventually { reader.statistics.logKeyCount == 0 }
                #expect(reader.statistics.snapshotCount == writer.statistics.snapshotCount)
            }
            let report = try await reader.verify()
            #expect(report.isSound, "\(report.damages)")
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func aReaderOutlivesItsWriterAndFollowsTheNext() async throws {
        try await withTemporaryDirectory { path in
            var writer = try await Workspace.open(at: path)
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("values")
            for number in 0..<10 {
                try await writer.dictionary("values").set(number, forKey: "a")
                try await writer.close()
                try await reader.catchUp()
                #expect(try read["a", as: Int.self] == number)
                #expect(reader.following?.isWriterOpen == false)
                writer = try await Workspace.open(at: path)
            }
            try await writer.dictionary("values").set(10, forKey: "a")
            try await eventually { try read["a", as: Int.self] == 10 }
            #expect(reader.following?.isWriterOpen == true)
            try await writer.close()
            try await reader.close()
        }
    }

    @Test func aReaderSaysAtOnceWhetherAWriterIsThere() async throws {
        try await withTemporaryDirectory { path in
            try await Workspace.open(at: path).close()
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            for _ in 0..<5 {
                #expect(reader.following?.isWriterOpen == false)
                let writer = try await Workspace.open(at: path)
                #expect(reader.following?.isWriterOpen == true)
                try await writer.close()
            }
            #expect(reader.following?.isWriterOpen == false)
            try await reader.close()
        }
    }

    private struct Bird: Codable, Identifiable, Indexed {
        var id: Int
        var wing: Int

        static var indexes: [Index<Bird>] { [Index("wing", \.wing)] }
    }

    @Test func aReaderQueriesByTheIndexesThatTheWriterBuilds() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(at: path)
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.repository(of: Bird.self)
            #expect(try read.where { $0.wing > 10 }.fetch().isEmpty)
            let written = writer.repository(of: Bird.self)
            for id in 0..<40 { try await written.save(Bird(id: id, wing: id)) }
            try await reader.catchUp()
            let found = read.where { $0.wing > 10 && $0.wing < 15 }
            #expect(try found.fetch().map(\.id).sorted() == [11, 12, 13, 14])
            try await eventually { try found.explain().hasPrefix("index") }
            try await written.save(Bird(id: 99, wing: 12))
            try await reader.catchUp()
            #expect(try found.fetch().map(\.id).sorted() == [11, 12, 13, 14, 99])
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func aReaderThatCameFirstIsInNoWritersWay() async throws {
        try await withTemporaryDirectory { path in
            try await Workspace.open(at: path).close()
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let writer = try await Workspace.open(at: path)
            try await writer.dictionary("values").set(1, forKey: "a")
            try await eventually { try reader.dictionary("values")["a", as: Int.self] == 1 }
            try await writer.close()
            try await reader.close()
        }
    }

    /// Openings that write nothing leave no segment, and the next one's has the same number.
    @Test(arguments: [false, true])
    func aReaderFollowsWritersOneAfterTheOther(compacts: Bool) async throws {
        try await withTemporaryDirectory { path in
            func write(_ body: (Workspace) async throws -> Void) async throws {
                let writer = try await Workspace.open(at: path)
                try await body(writer)
                try await writer.close()
            }
            try await write { try await $0.dictionary("values").set(0, forKey: "a") }
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("values")
            let changes = read.changes(as: Int.self)
            let told = Task {
                var numbers: [Int] = []
                for await change in changes {
                    guard case .set(_, let value, _) = change else { continue }
                    numbers.append(value)
                    if value == 6 { break }
                }
                return numbers
            }
            for number in 1...6 {
                // The reader comes to the segment that the writer takes away again.
                let idle = try await Workspace.open(at: path)
                try await reader.catchUp()
                if compacts { try await idle.compact() }
                try await idle.close()
                try await reader.catchUp()
                try await write { try await $0.dictionary("values").set(number, forKey: "a") }
                try await eventually { try read["a", as: Int.self] == number }
            }
            #expect(await told.value == Array(1...6))
            try await reader.close()
        }
    }

    @Test func aReaderWhoseDirectoryGivesWayToAnotherSaysSo() async throws {
        try await withTemporaryDirectory { path in
            let (own, moved) = (path + "/own", path + "/moved")
            let writer = try await Workspace.open(at: own)
            try await writer.dictionary("values").set(1, forKey: "a")
            try await writer.close()
            let reader = try await Workspace.open(at: own, configuration: readOnly)
            #expect(try reader.dictionary("values")["a", as: Int.self] == 1)
            try FileManager.default.moveItem(atPath: own, toPath: moved)
            // As long as there is nothing in its place it is the same workspace, elsewhere.
            try await reader.catchUp()
            let other = try await Workspace.open(at: own)
            try await other.close()
            try await eventually {
                do {
                    _ = try reader.dictionary("values")["a", as: Int.self]
                    return false
                } catch let error as RoostError { return error.code == .corrupt }
            }
            try await reader.close()
        }
    }

    @MainActor
    @Test func aLiveReadShowsWhyItsReaderFollowsNoMore() async throws {
        try await withTemporaryDirectory { path in
            let (own, moved) = (path + "/own", path + "/moved")
            let writer = try await Workspace.open(at: own)
            try await writer.dictionary("values").set(1, forKey: "a")
            try await writer.close()
            let reader = try await Workspace.open(at: own, configuration: readOnly)
            let values = reader.dictionary("values")
            let live = LiveRead(reader) { view in
                try view.value(forKey: "a", as: Int.self, in: values)
            }
            #expect(live.value == .some(1) && live.error == nil)
            try FileManager.default.moveItem(atPath: own, toPath: moved)
            let other = try await Workspace.open(at: own)
            try await other.close()
            let end = ContinuousClock.now + .seconds(180)
            while live.error == nil, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect((live.error as? RoostError)?.code == .corrupt)
            #expect(live.value == .some(1))
            try await reader.close()
        }
    }

    @MainActor
    @Test func whatIsLiveSaysWhyItsReaderFollowsNoMore() async throws {
        try await withTemporaryDirectory { path in
            let (own, moved) = (path + "/own", path + "/moved")
            let writer = try await Workspace.open(at: own)
            try await writer.repository(of: Bird.self).save(Bird(id: 1, wing: 1))
            try await writer.dictionary("values").set(1, forKey: "a")
            try await writer.close()
            let reader = try await Workspace.open(at: own, configuration: readOnly)
            let birds = reader.repository(of: Bird.self)
            let live = LiveQuery(birds.all)
            #expect(live.items.map(\.id) == [1] && live.error == nil)
            let listed = ObservedRepository(birds)
            let value = ObservedValue(Key<Int>("a", default: 0), in: reader.dictionary("values"))
            #expect(value.value == 1 && value.failure == nil)
            let told = Mutex<[RoostError]>([])
            let subscription = birds.subscribe(1) { event in
                if case .failed(let error) = event { told.withLock { $0.append(error) } }
            }
            let seen = Mutex<[RoostError.Code?]>([])
            let changes = Task {
                for await change in birds.all.changes() {
                    if case .failed(let error) = change {
                        seen.withLock { $0.append(error.code) }
                    } else {
                        seen.withLock { $0.append(nil) }
                    }
                }
            }
            let end = ContinuousClock.now + .seconds(180)
            while !listed.isLoaded || seen.withLock({ $0.isEmpty }), ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            try FileManager.default.moveItem(atPath: own, toPath: moved)
            let other = try await Workspace.open(at: own)
            try await other.close()
            await changes.value
            #expect(seen.withLock { $0 } == [nil, RoostError.Code.corrupt])
            while live.error == nil || listed.failure == nil || value.failure == nil,
                ContinuousClock.now < end
            {
                try await Task.sleep(for: .milliseconds(5))
            }
            while told.withLock({ $0.isEmpty }), ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(live.error?.code == .corrupt && live.items.map(\.id) == [1])
            #expect(listed.failure?.code == .corrupt && listed.items.map(\.id) == [1])
            #expect(value.failure?.code == .corrupt && value.value == 1)
            #expect(told.withLock { $0.map(\.code) } == [.corrupt])
            subscription.cancel()
            try await reader.close()
        }
    }

    /// The look that finds it comes behind a pass that somebody has asked for, as at every tenth wait without a writer.
    @Test func whoCatchesUpWhileTheDirectoryGivesWayIsAnsweredOnce() async throws {
        try await withTemporaryDirectory { path in
            let (own, moved) = (path + "/own", path + "/moved")
            let writer = try await Workspace.open(at: own)
            try await writer.dictionary("values").set(1, forKey: "a")
            try await writer.close()
            let reader = try await Workspace.open(at: own, configuration: readOnly)
            try FileManager.default.moveItem(atPath: own, toPath: moved)
            let other = try await Workspace.open(at: own)
            try await other.close()
            await #expect(throws: RoostError.self) {
                for _ in 0..<10_000 {
                    try await reader.catchUp()
                    // The thread comes to wait meanwhile.
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            try await reader.close()
        }
    }
}

/// Waits until `isMet`; a loaded machine takes longer, a hung one fails.
func eventually(
    _ isMet: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let end = ContinuousClock.now + .seconds(180)
    while try !isMet() {
        if ContinuousClock.now > end {
            Issue.record("did not happen within three minutes", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
