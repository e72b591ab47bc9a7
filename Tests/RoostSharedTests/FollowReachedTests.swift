import Roost
import RoostIO
import RoostShared
import Synchronization
import Testing

/// An engine that tells changes and not how far it is while there are none, as old versions of etcd: how a revision is reached
/// that is of another dictionary.
@Suite(.timeLimit(.minutes(5))) struct FollowReachedTests {
    /// Watches of an engine in memory, whose changes wait as long as they are held.
    private final class QuietWatches: Sendable {
        private let engine: MemoryEngine
        private let held = Mutex(false)

        init(_ engine: MemoryEngine) { self.engine = engine }

        func hold(_ isHeld: Bool) { held.withLock { $0 = isHeld } }

        func watch(_ range: SharedKeyRange, _ revision: UInt64) -> SharedEvents {
            let (events, source) = SharedEvents.make()
            let base = engine.watch(range, after: revision)
            let telling = Task {
                do {
                    for try await event in base {
                        if case .changes(let changes, _) = event, changes.isEmpty { continue }
                        while held.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
                        source.tell(event)
                    }
                    source.end(nil)
                } catch { source.end(error) }
            }
            source.onEnd { telling.cancel() }
            return events
        }
    }

    private struct Place {
        let engine: HookedEngine
        let watches: QuietWatches
        let shared: SharedWorkspace
        let local: Workspace
        let followed: FollowedDictionary

        var settings: SharedDictionary { shared.dictionary("settings") }

        /// A commit of another dictionary; its revision.
        func elsewhere() async throws -> UInt64 {
            try await shared.dictionary("other").set(1, forKey: "n")
            return try await shared.revision
        }

        func end() async throws {
            await followed.close()
            try await local.close()
        }
    }

    /// Two keys that are equal as strings, and two others.
    private static let keys = ["a", "b", "caf\u{e9}", "cafe\u{301}"]

    private func makePlace(_ loading: FollowLoading) async throws -> Place {
        let engine = HookedEngine()
        let watches = QuietWatches(engine.engine)
        engine.set { $0.watch = { watches.watch($0, $1) } }
        let shared = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(60)))
        for key in Self.keys { try await shared.dictionary("settings").set(1, forKey: key) }
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: loading)
        for key in Self.keys + ["new"] { _ = try await followed.load(key, as: Int.self) }
        return Place(
            engine: engine, watches: watches, shared: shared, local: local, followed: followed)
    }

    @Test(arguments: [FollowLoading.whole, .byKey])
    func aRevisionOfAnotherDictionaryIsReached(_ loading: FollowLoading) async throws {
        let place = try await makePlace(loading)
        let revision = try await place.elsewhere()
        try await place.followed.reached(revision, within: .seconds(30))
        #expect(place.followed.revision >= revision)
        // What comes then is followed as ever.
        try await place.settings.set(2, forKey: "a")
        try await place.followed.reached(try await place.elsewhere(), within: .seconds(30))
        #expect(try place.followed["a", default: 0] == 2)
        try await place.end()
    }

    /// Engines reckon with the deadline that they are given, and the milliseconds to one that is as good as never are too many.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func aRevisionMayBeWaitedForWithoutAnEnd(_ loading: FollowLoading) async throws {
        let place = try await makePlace(loading)
        let latest = Mutex(ContinuousClock.now)
        place.engine.set {
            $0.delay = { _, deadline in
                latest.withLock { last in last = max(last, deadline) }
            }
        }
        let revision = try await place.elsewhere()
        try await place.followed.reached(revision, within: .seconds(Int64.max))
        #expect(latest.withLock { $0 } < .now + .seconds(1 << 33))
        try await place.end()
    }

    enum Change: CaseIterable {
        case ofAValue, ofANewKey, removal, removalOfAnEqualString
    }

    /// What was not told yet is not passed over, also where nothing of it is left.
    @Test(arguments: [FollowLoading.whole, .byKey], Change.allCases)
    func aRevisionIsNotReachedBeforeItsChangesAreHere(
        _ loading: FollowLoading, _ change: Change
    ) async throws {
        let place = try await makePlace(loading)
        let followed = place.followed
        place.watches.hold(true)
        switch change {
        case .ofAValue: try await place.settings.set(2, forKey: "b")
        case .ofANewKey: try await place.settings.set(2, forKey: "new")
        case .removal: try await place.settings.removeValue(forKey: "b")
        case .removalOfAnEqualString: try await place.settings.removeValue(forKey: Self.keys[3])
        }
        let revision = try await place.elsewhere()
        let error = await #expect(throws: RoostError.self) {
            try await followed.reached(revision, within: .milliseconds(1500))
        }
        #expect(error?.code == .unavailable && followed.revision < revision)
        #expect(
            try followed.keys.map { Array($0.utf8) }
                == Self.keys.map { Array($0.utf8) }.sorted(by: {
                    $0.lexicographicallyPrecedes($1)
                }))
        #expect(try followed["b", default: 0] == 1)
        place.watches.hold(false)
        try await followed.reached(revision, within: .seconds(30))
        switch change {
        case .ofAValue: #expect(try followed["b", default: 0] == 2)
        case .ofANewKey: #expect(try followed["new", default: 0] == 2)
        case .removal: #expect(try !followed.contains("b"))
        case .removalOfAnEqualString: #expect(try !followed.contains(Self.keys[3]))
        }
        try await place.end()
    }

    /// A key that came and went leaves nothing behind. Reads are of later by then, and do not go back to it.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func whatWasPassedIsNotShownLater(_ loading: FollowLoading) async throws {
        let place = try await makePlace(loading)
        let followed = place.followed
        let changes = followed.changes(as: Int.self)
        place.watches.hold(true)
        try await place.settings.set(2, forKey: "new")
        try await place.settings.removeValue(forKey: "new")
        let revision = try await place.elsewhere()
        try await followed.reached(revision, within: .seconds(30))
        let first = Task { () -> DictionaryChange<Int>? in
            for await change in changes { return change }
            return nil
        }
        place.watches.hold(false)
        try await place.settings.set(3, forKey: "a")
        guard case .set("a", 3, _) = await first.value else {
            Issue.record("what was passed is shown")
            return
        }
        #expect(followed.revision > revision)
        try await place.end()
    }

    /// A node takes over that has all that was told, and not what was passed: its revisions are other commits then.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func commitsThatWerePassedAndLostAreFound(_ loading: FollowLoading) async throws {
        let place = try await makePlace(loading)
        let followed = place.followed
        let standby = MemoryEngine()
        let other = try await SharedWorkspace.connect(to: .memory(standby), namespace: "test")
        for key in Self.keys { try await other.dictionary("settings").set(1, forKey: key) }
        for _ in 0..<10 { _ = try await place.elsewhere() }
        let revision = try await place.shared.revision
        try await followed.reached(revision, within: .seconds(30))

        place.engine.set {
            $0.read = { try await standby.read($0, before: .now + .seconds(60)) }
            $0.commit = { try await standby.commit($0, before: .now + .seconds(60)) }
            $0.watch = { standby.watch($0, after: $1) }
        }
        place.engine.engine.breakWatches()
        let standing = try await place.shared.revision
        #expect(standing < revision)
        try await eventually { followed.revision <= standing }
        try await place.settings.set(5, forKey: "a")
        try await eventually { try followed["a", default: 0] == 5 }
        try await place.end()
    }
}
