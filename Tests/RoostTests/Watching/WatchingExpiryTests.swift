import Foundation
import Roost
import RoostTestSupport
import Testing

/// That whoever watches one key's value is told when it expires.
@Suite(.timeLimit(.minutes(5))) struct WatchingExpiryTests {
    private let time = SettableTime()

    private func withValues(
        _ body: (WorkspaceDictionary) async throws -> Void
    ) async throws {
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: 2, clock: .settable(time)))
        try await body(workspace.dictionary("values"))
        try await workspace.close()
    }

    @Test(arguments: [false, true])
    func updatesGiveNothingOnceAValueHasExpired(isCold: Bool) async throws {
        try await withValues { values in
            try await values.set(1, forKey: "n", expiresIn: .seconds(10))
            if isCold { try await values.workspace.compact() }
            var updates = values.updates(of: "n", as: Int.self).makeAsyncIterator()
            #expect(await updates.next() == .some(1))
            time.advance(by: .seconds(10))
            #expect(await updates.next() == .some(nil))
            try await values.set(2, forKey: "n", expiresIn: .seconds(10))
            #expect(await updates.next() == .some(2))
            time.advance(by: .seconds(10))
            #expect(await updates.next() == .some(nil))
        }
    }

    @Test func aSubscriptionIsToldOnceThatItsValueIsGone() async throws {
        try await withValues { values in
            let told = Told<Int>()
            let subscription = values.subscribe("n", of: Int.self) { told.add($0) }
            await told.waitFor(1)
            try await values.set(1, forKey: "n", expiresIn: .seconds(10))
            await told.waitFor(2)
            // Set again in time it is there all the time.
            try await values.set(2, forKey: "n", expiresIn: .seconds(20))
            await told.waitFor(3)
            time.advance(by: .seconds(10))
            try await values.set(3, forKey: "n")
            await told.waitFor(4)
            time.advance(by: .seconds(10))
            try await values.set(4, forKey: "n", expiresIn: .seconds(10))
            await told.waitFor(5)
            time.advance(by: .seconds(10))
            await told.waitFor(6)
            try await values.removeValue(forKey: "n")
            try await values.set(5, forKey: "n")
            await told.waitFor(7)
            #expect(
                told.all == [
                    .initial(nil), .updated(1), .updated(2), .updated(3), .updated(4), .deleted,
                    .updated(5),
                ])
            withExtendedLifetime(subscription) {}
        }
    }

    /// By the system's clock and timer alone.
    @Test func aValueIsGoneThoughNothingElseHappens() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n", expiresIn: .milliseconds(300))
        for await value in values.updates(of: "n", as: Int.self) where value == nil { break }
        try await workspace.close()
    }

    @MainActor @Test func anObservedValueHasItsDefaultOnceTheStoredOneHasExpired() async throws {
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let values = workspace.dictionary("values")
        let key = Key("n", default: 0)
        try await values.set(1, for: key, expiresIn: .seconds(10))
        let observed = ObservedValue(key, in: values)
        #expect(observed.value == 1)
        var updates = values.updates(of: key).makeAsyncIterator()
        #expect(await updates.next() == 1)
        // Its own follower may not have taken the first value yet.
        while observed.value != 0 {
            time.advance(by: .seconds(10))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(await updates.next() == 0)
        try await workspace.close()
    }
}
