import Roost
import RoostIO
import Synchronization
import Testing

@testable import RoostShared

/// What a follower looks at before it changes what is read: each where the engine answers out of order, or at the
/// worst moment.
@Suite(.timeLimit(.minutes(5))) struct FollowGuardTests {
    private let format = Array("test/%format".utf8)
    private let keyOfA = Array("test/settings/a".utf8)

    private func connect(_ engine: HookedEngine) async throws -> SharedWorkspace {
        try await .connect(
            to: .engine(engine), namespace: "test", configuration: .init(callDeadline: .seconds(60))
        )
    }

    /// Where the engine is a node that lags, or has lost commits, when everything is loaded anew, what was read
    /// stays.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func nothingIsLoadedAsItWasBefore(loading: FollowLoading) async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let settings = shared.dictionary("settings")
        try await settings.set(1, forKey: "a")
        let earlier = try await shared.revision
        try await settings.set(2, forKey: "a")
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: loading)
        #expect(try await followed.load("a", as: Int.self) == 2)
        try await followed.reached(try await shared.revision, within: .seconds(60))

        // The second look for the newest revision that follows is the loading's.
        let lookCount = Mutex(0)
        let (events, source) = SharedEvents.make()
        source.tell(.compacted(oldest: followed.revision + 10))
        source.end(nil)
        let watchCount = Mutex(0)
        engine.set {
            $0.watch = { _, _ in
                let isFirst = watchCount.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? events : nil
            }
            $0.read = { [memory = engine.engine, format, keyOfA] read in
                var read = read
                if read.range.contains(format) {
                    let isLoading = lookCount.withLock { count in
                        count += 1
                        return count == 2
                    }
                    if !isLoading || loading == .whole { return nil }
                } else if !read.range.contains(keyOfA) {
                    return nil
                }
                read.revision = read.revision ?? earlier
                return try await memory.read(read, before: .now + .seconds(10))
            }
        }
        engine.engine.breakWatches()
        // The next watch begins when the loading is over.
        let end = ContinuousClock.now + .seconds(60)
        while watchCount.withLock({ $0 }) < 2, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(watchCount.withLock { $0 } >= 2)
        #expect(try followed["a", default: 0] == 2)
        await followed.close()
        try await local.close()
    }

    /// The engine was set up anew while the follower was down: what the local workspace has is of no revision of it.
    @Test func aRestartFindsThatTheEngineWasSetUpAnew() async throws {
        let local = try await Workspace.inMemory()
        let first = try await connect(HookedEngine())
        for number in 0..<20 { try await first.dictionary("settings").set(number, forKey: "a") }
        let whole = try await first.follow("settings", in: local)
        let byKey = try await first.follow("settings", in: local, loading: .byKey)
        #expect(try await byKey.load("a", as: Int.self) == 19)
        await whole.close()
        await byKey.close()

        let second = try await connect(HookedEngine())
        let settings = second.dictionary("settings")
        try await settings.set(100, forKey: "a")
        let follower = Follower(settings, local)
        try await follower.begin()
        #expect(try follower.values.value(forKey: "a", as: Int.self) == 100)
        #expect(follower.state.revision == (try await second.revision))
        let keyFollower = KeyFollower(settings, local)
        try await keyFollower.begin()
        #expect(try keyFollower.values.value(forKey: "a", as: Int.self) == 100)
        #expect(keyFollower.state.revision == (try await second.revision))
        try await local.close()
    }

    /// A process ends before it has loaded what the engine lost: the next one does, though the engine has made as many
    /// commits since.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func aRestartLoadsAnewWhatWasFoundToBeLost(loading: FollowLoading) async throws {
        let local = try await Workspace.inMemory()
        let first = HookedEngine()
        let before = try await connect(first)
        for number in 0..<20 { try await before.dictionary("settings").set(number, forKey: "a") }
        var followed = try await before.follow("settings", in: local, loading: loading)
        #expect(try await followed.load("a", as: Int.self) == 19)
        await followed.close()

        let second = HookedEngine()
        let after = try await connect(second)
        try await after.dictionary("settings").set(100, forKey: "a")
        // It has fewer commits, and then nobody answers.
        second.set {
            $0.read = { [format] read in
                if read.range.contains(format) { return nil }
                throw RoostError(.unavailable, "nobody answers")
            }
        }
        followed = try await after.follow("settings", in: local, loading: loading)
        #expect(try followed["a", default: 0] == 19)
        await followed.close()
        second.set { $0.read = nil }
        for number in 0..<50 { try await after.dictionary("other").set(number, forKey: "n") }
        followed = try await after.follow("settings", in: local, loading: loading)
        try await followed.reached(try await after.revision, within: .seconds(60))
        #expect(try followed["a", default: 0] == 100)
        await followed.close()
        #expect(try local.dictionary(FollowState.lossesName).keys == [])
        try await local.close()
    }

    /// Two in one local workspace would each take what the other has brought for its own.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func aDictionaryIsFollowedOnceInAWorkspace(loading: FollowLoading) async throws {
        let shared = try await connect(HookedEngine())
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: loading)
        let error = await #expect(throws: RoostError.self) {
            try await shared.withCallDeadline(.milliseconds(200)).follow(
                "settings", in: local, loading: loading)
        }
        #expect(error?.code == .locked)
        let other = try await shared.follow("other", in: local, loading: loading)
        await other.close()
        followed.stop()
        // It has a few seconds to end, and a machine may stand still for longer.
        let end = ContinuousClock.now + .seconds(60)
        var later: FollowedDictionary?
        while later == nil {
            do {
                later = try await shared.follow("settings", in: local, loading: loading)
            } catch let error as RoostError
                where error.code == .locked && ContinuousClock.now < end
            {
                await Task.yield()
            }
        }
        await later?.close()
        try await local.close()
    }

    /// A crash at any moment leaves values with the revision that they stand at.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func valuesAndTheirRevisionAreOneBatch(loading: FollowLoading) async throws {
        let shared = try await connect(HookedEngine())
        let settings = shared.dictionary("settings")
        try await settings.set(1, forKey: "a")
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: loading)
        _ = try await followed.load("a", as: Int.self)
        let name = loading == .whole ? "followed" : "followed-by-key"
        for number in 2..<5 {
            try await settings.set(number, forKey: "a")
            let revision = try await shared.revision
            try await followed.reached(revision, within: .seconds(60))
            let stored = try local.dictionary(name).value(
                forKey: "\(name)/test/settings", as: UInt64.self)
            #expect(stored == revision)
        }
        await followed.close()
        try await local.close()
    }

    /// The engine was set up anew while it was looked at, and what is here is of the same revision of it: what was looked at
    /// is of one that is no more.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func whatWasLookedAtBeforeALossSaysNothing(loading: FollowLoading) async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let settings = shared.dictionary("settings")
        try await settings.set(1, forKey: "a")
        let local = try await Workspace.inMemory()
        let whole = Follower(settings, local)
        let byKey = KeyFollower(settings, local)
        try await whole.begin()
        try await byKey.begin()
        let state = loading == .whole ? whole.state : byKey.state
        let revision = state.revision
        try await shared.dictionary("other").set(1, forKey: "n")
        engine.set {
            $0.read = { [memory = engine.engine] read in
                let page = try await memory.read(read, before: .now + .seconds(60))
                state.restart(at: revision, .now)
                return page
            }
        }
        let deadline = ContinuousClock.now + .seconds(60)
        func pass() async throws {
            if loading == .whole {
                try await whole.pass(before: deadline)
            } else {
                try await byKey.pass(before: deadline)
            }
        }
        try await pass()
        #expect(state.revision == revision)
        engine.set { $0.read = nil }
        try await pass()
        #expect(state.revision > revision)
        try await local.close()
    }

    // MARK: Key by key

    /// A dictionary followed by key, with `b` loaded, whose changes are told by `source` until that ends.
    private func followQuietly(
        _ engine: HookedEngine, _ shared: SharedWorkspace, in local: Workspace
    ) async throws -> (followed: FollowedDictionary, source: SharedEvents.Source) {
        try await shared.dictionary("settings").setAll([("a", 1), ("b", 1)])
        let (events, source) = SharedEvents.make()
        let isFirst = Mutex(true)
        engine.set {
            $0.watch = { _, _ in
                let isQuiet = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                return isQuiet ? events : nil
            }
        }
        let followed = try await shared.follow("settings", in: local, loading: .byKey)
        #expect(try await followed.load("b", as: Int.self) == 1)
        return (followed, source)
    }

    /// All that is loaded is of one revision.
    @Test func aKeyIsLoadedAtTheRevisionOfTheOthers() async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let local = try await Workspace.inMemory()
        let (followed, source) = try await followQuietly(engine, shared, in: local)
        try await shared.dictionary("settings").setAll([("a", 2), ("b", 2)])
        #expect(try await followed.load("a", as: Int.self) == 1)
        #expect(try followed["b", default: 0] == 1)
        source.end(nil)
        try await followed.reached(try await shared.revision, within: .seconds(60))
        #expect(try followed["a", default: 0] == 2)
        #expect(try followed["b", default: 0] == 2)
        await followed.close()
        try await local.close()
    }

    /// The engine has given up the revision, and the newest one is another.
    @Test func aKeyThatWasSetSinceIsLoadedWithTheOthers() async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let local = try await Workspace.inMemory()
        let (followed, source) = try await followQuietly(engine, shared, in: local)
        try await shared.dictionary("settings").setAll([("a", 2), ("b", 2)])
        engine.engine.compact(before: try await shared.revision)
        let loading = Task { try await followed.load("a", as: Int.self) }
        let release = Task {
            try await Task.sleep(for: .milliseconds(100))
            source.end(nil)
        }
        #expect(try await loading.value == 2)
        #expect(try followed["b", default: 0] == 2)
        try await release.value
        await followed.close()
        try await local.close()
    }

    /// A change, or a loading anew, comes between the engine's answer and its taking.
    @Test(arguments: [false, true])
    func aKeyIsNotLoadedFromBeforeWhatCameMeanwhile(isReload: Bool) async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let local = try await Workspace.inMemory()
        let (followed, source) = try await followQuietly(engine, shared, in: local)
        let isFirst = Mutex(true)
        engine.set {
            $0.read = { [memory = engine.engine, keyOfA] read in
                guard read.range.contains(keyOfA),
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return nil }
                let page = try await memory.read(read, before: .now + .seconds(10))
                try await shared.dictionary("settings").setAll([("a", 2), ("b", 2)])
                let revision = try await shared.revision
                if isReload { source.tell(.compacted(oldest: revision + 1)) }
                source.end(nil)
                try await followed.reached(revision, within: .seconds(60))
                return page
            }
        }
        #expect(try await followed.load("a", as: Int.self) == 2)
        #expect(try followed["b", default: 0] == 2)
        await followed.close()
        try await local.close()
    }

    /// A change of an engine that was set up anew since says nothing, though its revision is higher.
    @Test func aKeyIsNotLoadedFromAnEngineThatIsNoMore() async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let local = try await Workspace.inMemory()
        let (followed, source) = try await followQuietly(engine, shared, in: local)
        let standby = MemoryEngine()
        let other = try await SharedWorkspace.connect(to: .memory(standby), namespace: "test")
        try await other.dictionary("settings").setAll([("a", 7), ("b", 7)])
        let newest = try await other.revision
        let isFirst = Mutex(true)
        engine.set {
            $0.read = { [memory = engine.engine, keyOfA] read in
                guard read.range.contains(keyOfA),
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return nil }
                let page = try await memory.read(read, before: .now + .seconds(10))
                for number in 2..<20 {
                    try await shared.dictionary("settings").set(number, forKey: "a")
                }
                source.end(nil)
                try await followed.reached(try await shared.revision, within: .seconds(60))
                engine.set {
                    $0.read = { try await standby.read($0, before: .now + .seconds(60)) }
                    $0.watch = { standby.watch($0, after: $1) }
                }
                memory.breakWatches()
                let end = ContinuousClock.now + .seconds(60)
                while followed.revision != newest, ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(2))
                }
                return page
            }
        }
        #expect(try await followed.load("a", as: Int.self) == 7)
        #expect(try followed["b", default: 0] == 7)
        await followed.close()
        try await local.close()
    }
}
