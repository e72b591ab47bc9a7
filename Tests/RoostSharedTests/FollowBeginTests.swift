import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// A dictionary that was followed before, when following begins again.
@Suite(.timeLimit(.minutes(5))) struct FollowBeginTests {
    private static let engineless = SharedTarget { deadline in
        try await Task.sleep(until: deadline)
        throw RoostError(.unavailable, "nobody answers")
    }

    private func connect(
        _ target: SharedTarget, lazily: Bool = false
    ) async throws -> SharedWorkspace {
        try await .connect(
            to: target, namespace: "test",
            configuration: .init(callDeadline: .seconds(60), connectsLazily: lazily))
    }

    /// A local workspace that has followed what `engine` has.
    private func local(
        _ engine: HookedEngine, _ loading: FollowLoading
    ) async throws -> Workspace {
        let shared = try await connect(.engine(engine))
        try await shared.dictionary("settings").set(1, forKey: "volume")
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: loading)
        if loading == .byKey { _ = try await followed.load("volume", as: Int.self) }
        // What is loaded key by key stands at the revision that is kept when it ends.
        await followed.close()
        return local
    }

    @Test(arguments: [FollowLoading.whole, .byKey])
    func withoutTheEngineNobodyKnowsHowOldItIs(_ loading: FollowLoading) async throws {
        let local = try await local(HookedEngine(), loading)
        let shared = try await connect(Self.engineless, lazily: true)
        let followed = try await shared.follow("settings", in: local, loading: loading)
        #expect(try followed["volume", default: 0] == 1)
        #expect(followed.lag > .seconds(1 << 29))
        await followed.close()
        await shared.close()
    }

    /// Old versions of etcd tell a watcher nothing but changes: what is read before watching says how old what is here is.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func anEngineThatIsFirstAskedWhileFollowingSaysThatItIsFresh(
        _ loading: FollowLoading
    ) async throws {
        let engine = HookedEngine()
        let local = try await local(engine, loading)
        engine.set { $0.watch = { _, _ in SharedEvents.make().events } }
        let shared = try await connect(.engine(engine), lazily: true)
        let followed = try await shared.follow("settings", in: local, loading: loading)
        try await eventually { followed.lag < .seconds(60) }
        await followed.close()
        await shared.close()
    }

    @Test(arguments: [FollowLoading.whole, .byKey])
    func anEngineThatIsNoFurtherSaysThatItIsFresh(_ loading: FollowLoading) async throws {
        let engine = HookedEngine()
        let local = try await local(engine, loading)
        let shared = try await connect(.engine(engine))
        // No watcher tells anything.
        engine.set { $0.watch = { _, _ in SharedEvents.make().events } }
        let followed = try await shared.follow("settings", in: local, loading: loading)
        #expect(followed.lag < .seconds(60))
        await followed.close()
        try await shared.dictionary("settings").set(2, forKey: "volume")
        let later = try await shared.follow("settings", in: local, loading: loading)
        #expect(try later["volume", default: 0] == 1)
        #expect(later.lag > .seconds(1 << 29))
        await later.close()
    }

    /// Between two pages of what is loaded first, again and again.
    @Test func whatIsCompactedWhileItIsLoadedFirstIsLoadedAgain() async throws {
        let engine = HookedEngine()
        let shared = try await connect(.engine(engine))
        try await shared.dictionary("settings").setAll((10..<60).map { ("\($0)", $0) })
        let compactionCount = engine.forgetRevisions(5)
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local)
        #expect(compactionCount() == 5)
        #expect(try followed.count == 50)
        await followed.close()
        await shared.close()
    }

    @Test(arguments: [FollowLoading.whole, .byKey])
    func anEngineThatDoesNotAnswerKeepsNobodyWaiting(_ loading: FollowLoading) async throws {
        let engine = HookedEngine()
        let local = try await local(engine, loading)
        let shared = try await connect(.engine(engine))
        engine.set { $0.delay = { _, deadline in try await Task.sleep(until: deadline) } }
        let begin = ContinuousClock.now
        let followed = try await shared.follow("settings", in: local, loading: loading)
        #expect(.now - begin < .seconds(30))
        #expect(try followed["volume", default: 0] == 1)
        #expect(followed.lag > .seconds(1 << 29))
        await followed.close()
        engine.set { $0.delay = nil }
        await shared.close()
    }
}
