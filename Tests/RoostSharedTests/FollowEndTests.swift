import Roost
import RoostIO
import RoostShared
import Synchronization
import Testing

/// What becomes of what is under way where a dictionary is followed no longer.
@Suite(.timeLimit(.minutes(5))) struct FollowEndTests {
    private let keyOfA = Array("test/settings/a".utf8)

    private func connect(_ engine: HookedEngine) async throws -> SharedWorkspace {
        try await .connect(
            to: .engine(engine), namespace: "test", configuration: .init(callDeadline: .seconds(60))
        )
    }

    /// What an engine's answer waits for.
    private final class Gate: Sendable {
        private let opened = Mutex(false)
        private let reached = Mutex(false)

        var isReached: Bool { reached.withLock { $0 } }
        var isOpen: Bool { opened.withLock { $0 } }

        func open() { opened.withLock { $0 = true } }

        func wait() async throws {
            reached.withLock { $0 = true }
            while !opened.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// Reads of `a` wait for a gate.
    private func hold(_ engine: HookedEngine) -> Gate {
        let gate = Gate()
        engine.set {
            $0.read = { [keyOfA] read in
                if read.range.contains(keyOfA) { try await gate.wait() }
                return nil
            }
        }
        return gate
    }

    /// A key is loaded while the dictionary is followed anew: it would be of before what the new follower has brought.
    @Test func aKeyIsNotLoadedIntoWhatAnotherFollows() async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        let settings = shared.dictionary("settings")
        try await settings.set(1, forKey: "a")
        let local = try await Workspace.inMemory()
        let before = try await shared.follow("settings", in: local, loading: .byKey)
        let gate = hold(engine)
        let loading = Task { try await before.load("a", as: Int.self) }
        try await eventually { gate.isReached }
        await before.close()
        engine.set { $0.read = nil }

        try await settings.set(2, forKey: "a")
        let revision = try await shared.revision
        let followed = try await shared.follow("settings", in: local, loading: .byKey)
        try await followed.reached(revision, within: .seconds(60))
        #expect(try await followed.load("a", as: Int.self) == 2)
        gate.open()
        let error = await #expect(throws: RoostError.self) { try await loading.value }
        #expect(error?.code == .closed)
        let later = await #expect(throws: RoostError.self) {
            try await before.load("a", as: Int.self)
        }
        #expect(later?.code == .closed)
        #expect(try followed["a", default: 0] == 2)
        let stored = try local.dictionary("followed-by-key").value(
            forKey: "followed-by-key/test/settings", as: UInt64.self)
        #expect(stored ?? 0 >= revision)
        await followed.close()
        try await local.close()
    }

    /// What is loaded is being read anew, and the engine says nothing.
    @Test func aLoadingAnewKeepsNobodyFromClosing() async throws {
        let engine = HookedEngine()
        let shared = try await connect(engine)
        try await shared.dictionary("settings").set(1, forKey: "a")
        let (events, source) = SharedEvents.make()
        engine.set { $0.watch = { _, _ in events } }
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("settings", in: local, loading: .byKey)
        #expect(try await followed.load("a", as: Int.self) == 1)
        let gate = hold(engine)
        source.tell(.compacted(oldest: followed.revision + 10))
        try await eventually { gate.isReached }
        let late = Task {
            try await Task.sleep(for: .seconds(60))
            gate.open()
        }
        await followed.close()
        #expect(!gate.isOpen)
        late.cancel()
        #expect(try followed["a", default: 0] == 1)
        source.end(nil)
        try await local.close()
    }
}
