import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// Followers and watchers where the engine, or a restart, is not as usual.
@Suite(.timeLimit(.minutes(5))) struct FollowFaultTests {
    private func connect(_ engine: HookedEngine) async throws -> SharedWorkspace {
        try await .connect(
            to: .engine(engine), namespace: "test", configuration: .init(callDeadline: .seconds(60))
        )
    }

    /// A restart asks for what came since the revision that was reached last, which may have no change of the
    /// dictionary; nothing is loaded again.
    @Test func aRestartGoesOnAtTheRevisionThatWasReached() async throws {
        try await withTemporaryDirectory { path in
            let engine = HookedEngine()
            let shared = try await connect(engine)
            try await shared.dictionary("settings").setAll(["a": 1, "b": 2])
            var local = try await Workspace.open(at: "\(path)/local")
            var followed = try await shared.follow("settings", in: local)
            for number in 0..<5 { try await shared.dictionary("other").set(number, forKey: "n") }
            try await followed.reached(try await shared.revision, within: .seconds(60))
            let revision = followed.revision
            await followed.close()
            try await local.close()

            try await shared.dictionary("settings").set(3, forKey: "c")
            let begun = Mutex<[UInt64]>([])
            let loads = Mutex(0)
            engine.set {
                $0.watch = { _, after in
                    begun.withLock { $0.append(after) }
                    return nil
                }
                $0.read = { read in
                    if read.range.contains(Array("test/settings/a".utf8)), !read.isKeysOnly {
                        loads.withLock { $0 += 1 }
                    }
                    return nil
                }
            }
            local = try await Workspace.open(at: "\(path)/local")
            followed = try await shared.follow("settings", in: local)
            #expect(followed.revision >= revision)
            try await followed.reached(try await shared.revision, within: .seconds(60))
            #expect(try followed.keys == ["a", "b", "c"])
            #expect(begun.withLock { $0 } == [revision])
            #expect(loads.withLock { $0 } == 0)
            await followed.close()
            try await local.close()
        }
    }

    /// What was loaded of a dictionary that is followed key by key has the revision that was reached as well.
    @Test func aRestartGoesOnAtTheRevisionThatWasReachedByKey() async throws {
        let shared = try await connect(HookedEngine())
        let local = try await Workspace.inMemory()
        var followed = try await shared.follow("settings", in: local, loading: .byKey)
        #expect(try await followed.load("a", as: Int.self) == nil)
        for number in 0..<5 { try await shared.dictionary("other").set(number, forKey: "n") }
        try await followed.reached(try await shared.revision, within: .seconds(60))
        let revision = followed.revision
        await followed.close()
        let stored = try local.dictionary("followed-by-key").value(
            forKey: "followed-by-key/test/settings", as: UInt64.self)
        #expect(stored == revision)
        followed = try await shared.follow("settings", in: local, loading: .byKey)
        #expect(followed.revision >= revision)
        #expect(followed.isLoaded("a"))
        await followed.close()
        try await local.close()
    }

    /// Old versions of etcd tell nothing as long as the dictionary is not changed, and then give up the revision that all that
    /// is loaded stands at: who asks for a key that has no value is told so all the same.
    @Test(arguments: [1, 8])
    func aKeyWithoutAValueIsLoadedOnceTheRevisionIsGivenUp(callerCount: Int) async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let settings = shared.dictionary("settings")
        try await settings.set(1, forKey: "a")
        let (quiet, teller) = SharedEvents.make()
        engine.set { $0.watch = { _, _ in quiet } }
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: .byKey)
        #expect(try await followed.load("a", as: Int.self) == 1)
        try await shared.dictionary("other").set(1, forKey: "n")
        let newest = try await shared.revision
        engine.engine.compact(before: newest)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<callerCount {
                group.addTask {
                    let value = try await followed.load("none \(number)", as: Int.self)
                    #expect(value == nil)
                }
            }
            try await group.waitForAll()
        }
        #expect(followed.revision == newest)
        #expect(try followed["a", default: 0] == 1)
        await followed.close()
        teller.end(nil)
        try await local.close()
    }

    /// What waits to be taken was heard of when it came; and that nothing has changed is heard of too.
    @Test func theLagIsThatOfWhatWasTold() async throws {
        let (events, source) = SharedEvents.make()
        source.tell(.changes([], through: 7))
        let told = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(20))
        var iterator = events.makeAsyncIterator()
        _ = try await iterator.next()
        #expect(iterator.instant <= told)

        let engine = HookedEngine()
        let (quiet, teller) = SharedEvents.make()
        let shared = try await connect(engine)
        engine.set { $0.watch = { _, _ in quiet } }
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local)
        let revision = followed.revision
        let old = ContinuousClock.now - .seconds(5000)
        #expect(followed.lag < .seconds(4000))
        teller.tell(.changes([], through: revision + 1), at: old)
        try await eventually { followed.revision == revision + 1 }
        try await Task.sleep(for: .milliseconds(50))
        let before = followed.lag
        #expect(before >= .milliseconds(50))
        let instant = ContinuousClock.now
        teller.tell(.changes([], through: revision + 1), at: instant)
        try await eventually { followed.lag <= .now - instant }
        await followed.close()
        try await local.close()
    }

    /// What has expired is for the local workspace's clock to say: that of the shared one may be ahead while all is loaded, and
    /// what was passed by then would be missing for as long as nobody sets it again.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func whatSeemsToHaveExpiredIsLoadedToo(loading: FollowLoading) async throws {
        let engine = MemoryEngine(tellsTime: false)
        let (time, ahead) = (SettableTime(), SettableTime())
        ahead.advance(by: .seconds(7200))
        func connect(_ time: SettableTime) async throws -> SharedWorkspace {
            try await .connect(
                to: .memory(engine), namespace: "test",
                configuration: .init(callDeadline: .seconds(60), clock: .settable(time)))
        }
        let settings = try await connect(time).dictionary("settings")
        try await settings.set(1, forKey: "a", expiresIn: .seconds(3600))
        let local = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let followed = try await connect(ahead).follow("settings", in: local, loading: loading)
        #expect(try await followed.load("a", as: Int.self) == 1)
        await followed.close()
        try await local.close()
    }

    /// A node takes over that lacks what was acknowledged last: the copy is loaded anew, and watchers are told.
    @Test func commitsThatTheEngineHasLostAreFound() async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let settings = shared.dictionary("settings")
        try await settings.set(1, forKey: "a")

        // As the first node was before the commits that are lost.
        let standby = MemoryEngine()
        let other = try await SharedWorkspace.connect(to: .memory(standby), namespace: "test")
        try await other.dictionary("settings").set(1, forKey: "a")

        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local)
        let start = try await shared.revision
        let missed = Task { () -> (missed: Bool, last: Int?) in
            var isMissed = false
            for await change in settings.changes(as: Int.self, since: start) {
                if case .missed = change { isMissed = true }
                if case .set("d", let value, _) = change { return (isMissed, value) }
            }
            return (isMissed, nil)
        }
        for number in 0..<10 { try await settings.set(number, forKey: "lost") }
        try await followed.reached(try await shared.revision, within: .seconds(60))
        #expect(try followed.keys == ["a", "lost"])

        engine.set {
            $0.read = { try await standby.read($0, before: .now + .seconds(60)) }
            $0.commit = { try await standby.commit($0, before: .now + .seconds(60)) }
            $0.watch = { standby.watch($0, after: $1) }
        }
        engine.engine.breakWatches()
        // The revision follows the values.
        let standing = try await shared.revision
        try await eventually { try followed.keys == ["a"] && followed.revision <= standing }
        try await settings.set(4, forKey: "d")
        try await followed.reached(try await shared.revision, within: .seconds(60))
        #expect(try followed["d", default: 0] == 4)
        let told = await missed.value
        #expect(told.missed)
        #expect(told.last == 4)
        await followed.close()
        try await local.close()
    }

    /// An engine that has fewer commits than `followed` was told of, and cannot be asked for values until it has more:
    /// what it has by then was never told.
    private func takeOver(
        _ engine: HookedEngine, from lost: String, passing revision: UInt64
    ) async throws {
        let standby = MemoryEngine()
        let other = try await SharedWorkspace.connect(to: .memory(standby), namespace: "test")
        let settings = other.dictionary("settings")
        try await settings.set(1, forKey: "a")
        try await settings.set(1, forKey: "c")
        let key = Array("test/settings/\(lost)".utf8)
        engine.set {
            $0.read = { read in
                if read.range.contains(key), try await other.revision <= revision {
                    while try await other.revision <= revision {
                        try await settings.set(2, forKey: "b")
                    }
                    throw RoostError(.unavailable, "nobody answers")
                }
                return try await standby.read(read, before: .now + .seconds(60))
            }
            $0.watch = { standby.watch($0, after: $1) }
        }
    }

    /// The engine cannot be asked when it is found that it has lost commits, and when it can it has others in their place.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func whatWasFoundToBeLostIsLoadedAnewLater(loading: FollowLoading) async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let settings = shared.dictionary("settings")
        try await settings.set(0, forKey: "a")
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: loading)
        for number in 0..<10 { try await settings.set(number, forKey: "lost") }
        try await followed.reached(try await shared.revision, within: .seconds(60))
        for key in ["a", "c", "lost"] { _ = try await followed.load(key, as: Int.self) }

        try await takeOver(engine, from: "lost", passing: followed.revision)
        engine.engine.breakWatches()
        let expected = loading == .whole ? ["a", "b", "c"] : ["a", "c"]
        try await eventually { try followed.keys == expected }
        #expect(try followed["a", default: 0] == 1)
        #expect(followed.revision <= (try await shared.revision))
        await followed.close()
        try await local.close()
    }

    /// As above, where it is found when the dictionary is opened again.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func whatAnOpeningFoundToBeLostIsLoadedAnewLater(loading: FollowLoading) async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let settings = shared.dictionary("settings")
        for number in 0..<10 { try await settings.set(number, forKey: "lost") }
        let local = try await Workspace.inMemory()
        let before = try await shared.follow("settings", in: local, loading: loading)
        for key in ["a", "c", "lost"] { _ = try await before.load(key, as: Int.self) }
        await before.close()

        try await takeOver(engine, from: "lost", passing: before.revision)
        let followed = try await shared.follow("settings", in: local, loading: loading)
        let expected = loading == .whole ? ["a", "b", "c"] : ["a", "c"]
        try await eventually { try followed.keys == expected }
        await followed.close()
        try await local.close()
    }

    /// A reader without the right to read is told so: a watcher ends, and a follower says why it does not go on.
    @Test func whoMayNotReadIsTold() async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local)
        engine.set {
            $0.watch = { _, _ in
                let (events, source) = SharedEvents.make()
                source.end(RoostError(.notPermitted, "no right"))
                return events
            }
        }
        engine.engine.breakWatches()
        var count = 0
        for await _ in shared.dictionary("settings").changes(as: Int.self, since: 1) { count += 1 }
        #expect(count == 0)
        try await eventually { (followed.failure as? RoostError)?.code == .notPermitted }
        engine.set { $0.watch = { _, _ in nil } }
        try await shared.dictionary("settings").set(1, forKey: "a")
        try await eventually { try followed.keys == ["a"] }
        // It is told of a moment after the values are there.
        try await eventually { followed.failure == nil }
        await followed.close()
        try await local.close()
    }
}
