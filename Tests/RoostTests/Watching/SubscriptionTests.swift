import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

/// What a subscription's closure was told, and a way to wait for it.
final class Told<Value: Sendable>: Sendable {
    private let events = Mutex<[SubscriptionEvent<Value>]>([])
    private let stream = AsyncStream<Int>.makeStream()

    var all: [SubscriptionEvent<Value>] { events.withLock { $0 } }

    func add(_ event: SubscriptionEvent<Value>) {
        stream.continuation.yield(
            events.withLock { events in
                events.append(event)
                return events.count
            })
    }

    /// For one task.
    func waitFor(_ count: Int) async {
        if all.count >= count { return }
        for await seen in stream.stream where seen >= count { return }
    }
}

@Suite(.timeLimit(.minutes(10))) struct SubscriptionTests {
    @Test(arguments: WorkspaceKind.allCases)
    func aSubscriptionTellsInitialUpdatedAndDeletedInOrder(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let settings = workspace.dictionary("settings")
            let (absent, present) = (Told<Double>(), Told<Double>())
            let first = settings.subscribe("volume", of: Double.self) { absent.add($0) }
            // Nothing is lost that comes before the first call.
            try await settings.set(0.5, forKey: "volume")
            try await settings.set(0.7, forKey: "volume", durability: .synced)
            let second = settings.subscribe("volume", of: Double.self) { present.add($0) }
            try await settings.removeValue(forKey: "volume")
            try await settings.removeValue(forKey: "volume")
            try await settings.set(0.1, forKey: "volume")
            try await settings.removeAll()
            try await settings.removeAll()
            await absent.waitFor(6)
            await present.waitFor(4)
            #expect(
                absent.all == [
                    .initial(nil), .updated(0.5), .updated(0.7), .deleted, .updated(0.1), .deleted,
                ])
            #expect(present.all == [.initial(0.7), .deleted, .updated(0.1), .deleted])
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aSubscriptionBeginsWithAValueFromASnapshot(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let settings = workspace.dictionary("settings")
            try await settings.set("cold", forKey: "name")
            try await settings.set("gone", forKey: "other")
            try await workspace.compact()
            let told = Told<String>()
            let subscription = settings.subscribe("name", of: String.self) { told.add($0) }
            await told.waitFor(1)
            try await settings.set("warm", forKey: "name")
            await told.waitFor(2)
            #expect(told.all == [.initial("cold"), .updated("warm")])
            withExtendedLifetime(subscription) {}
        }
    }

    @Test func noCallComesOnceCancelHasReturned() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        for round in 0..<50 {
            let isCancelled = Atomic<Bool>(false)
            let lateCount = Atomic<Int>(0)
            let subscription = settings.subscribe("a", of: Int.self) { _ in
                if isCancelled.load(ordering: .sequentiallyConsistent) {
                    lateCount.wrappingAdd(1, ordering: .relaxed)
                }
            }
            async let writes: Void = {
                for number in 0..<20 { try await settings.set(number, forKey: "a") }
            }()
            for _ in 0..<(round % 7) { await Task.yield() }
            subscription.cancel()
            isCancelled.store(true, ordering: .sequentiallyConsistent)
            try await writes
            #expect(lateCount.load(ordering: .relaxed) == 0)
        }
        try await workspace.close()
    }

    @Test func aClosureMayCancelItsOwnSubscription() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let told = Told<Int>()
        let held = Mutex<Subscription?>(nil)
        let subscription = settings.subscribe("a", of: Int.self) { event in
            told.add(event)
            if event == .updated(1) { held.withLock { $0 }?.cancel() }
        }
        held.withLock { $0 = subscription }
        await told.waitFor(1)
        try await settings.set(1, forKey: "a")
        await told.waitFor(2)
        try await settings.set(2, forKey: "a")
        for _ in 0..<100 { await Task.yield() }
        #expect(told.all == [.initial(nil), .updated(1)])
        held.withLock { $0 = nil }
        try await workspace.close()
    }

    @Test func aSubscriptionThatIsDroppedEnds() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let told = Told<Int>()
        var subscription: Subscription? = settings.subscribe("a", of: Int.self) { told.add($0) }
        await told.waitFor(1)
        withExtendedLifetime(subscription) {}
        subscription = nil
        try await settings.set(1, forKey: "a")
        for _ in 0..<100 { await Task.yield() }
        #expect(told.all == [.initial(nil)])
        try await workspace.close()
    }

    @Test func aFirstValueThatDoesNotReadLeavesInitialToTheNext() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set("text", forKey: "a")
        try await settings.set("text", forKey: "b")
        let (later, removed) = (Told<Int>(), Told<Int>())
        let failures = workspace.failures
        let first = settings.subscribe("a", of: Int.self) { later.add($0) }
        let second = settings.subscribe("b", of: Int.self) { removed.add($0) }
        #expect(try await failures.first(2).map(\.code) == [.typeMismatch, .typeMismatch])
        try await settings.set(1, forKey: "a")
        try await settings.set(2, forKey: "a")
        try await settings.removeValue(forKey: "b")
        await later.waitFor(2)
        await removed.waitFor(1)
        #expect(later.all == [.initial(1), .updated(2)])
        #expect(removed.all == [.initial(nil)])
        withExtendedLifetime((first, second)) {}
        try await workspace.close()
    }
}
