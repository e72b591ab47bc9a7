import Foundation
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What a `LiveRead` shows, and when.
@Suite(.timeLimit(.minutes(5))) struct LiveReadTests {
    @MainActor
    @Test func aLiveReadFollows() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let live = LiveRead(workspace) { view in
            [try view.count(of: tickets), try view.sum(of: \.points, in: tickets.all)]
        }
        #expect(live.value == [0, 0])
        try await tickets.save(Ticket(id: 1, points: 4))
        // A write of the main actor shows when it returns.
        #expect(live.value == [1, 4])
        await Task.detached { try? await tickets.save(Ticket(id: 2, points: 5)) }.value
        while live.value != [2, 9] { await Task.yield() }
        try await workspace.close()
        #expect(live.value == [2, 9] && live.error == nil)
        let late = LiveRead(workspace) { try $0.count(of: tickets) }
        #expect(late.value == nil && (late.error as? RoostError)?.code == .closed)
    }

    /// As long as others write while it reads, it would read again and again before anybody could draw.
    @MainActor
    @Test func aLiveReadIsNotReadAgainOnTheMainActorForOthers() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let runs = Counter()
        let live = LiveRead(workspace) { view in
            let value = try view.value(forKey: "a", as: Int.self, in: settings) ?? 0
            if MainQueue.isCurrent, runs.value.add(1, ordering: .relaxed).newValue < 40 {
                writeElsewhere { try await settings.set(value + 1, forKey: "a") }
            }
            return value
        }
        // At the first reading nothing was watched before, so that it reads twice.
        #expect(runs.value.load(ordering: .relaxed) <= 2)
        try await settings.set(100, forKey: "a")
        #expect(runs.value.load(ordering: .relaxed) <= 3 && live.value == 100)
        while try live.value != settings.value(forKey: "a", as: Int.self) { await Task.yield() }
        #expect(live.value == 101)
        try await workspace.close()
    }

    @MainActor
    @Test func aLiveReadShowsTheMainActorsWriteBehindAnothers() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let gate = Gate()
        let live = LiveRead(workspace) { view in
            // A thread of the pool, without which the main actor may not get on either.
            if !MainQueue.isCurrent { gate.pass(limit: 2) }
            return try view.keys(of: settings)
        }
        // The other's change waits for the main actor, which has not been idle since.
        writeElsewhere { try await settings.set(1, forKey: "a") }
        try await settings.set(1, forKey: "b")
        #expect(live.value == ["a", "b"])
        // Of the other's change a reading is under way.
        gate.close()
        writeElsewhere { try await settings.set(1, forKey: "c") }
        await gate.waitForArrival()
        // With a single processor the gate's limit is over before the main actor is here.
        #expect(live.value?.prefix(2) == ["a", "b"])
        try await settings.set(1, forKey: "d")
        #expect(live.value == ["a", "b", "c", "d"])
        gate.open()
        try await settings.set(1, forKey: "e")
        for _ in 0..<100 {
            await Task.yield()
            // What was read earlier takes nothing back.
            #expect(live.value == ["a", "b", "c", "d", "e"])
        }
        try await workspace.close()
    }

    /// The other writers take what the main actor has written from the watches, too.
    @MainActor
    @Test func aLiveReadShowsTheMainActorsWritesBesideOtherWriters() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: 4))
        let settings = workspace.dictionary("settings")
        let live = LiveRead(workspace) { view in
            let own = try view.value(forKey: "own", as: Int.self, in: settings)
            return [own, try view.value(forKey: "other", as: Int.self, in: settings)]
        }
        let writers = beginWriting { try await settings.set($0, forKey: "other") }
        for number in 0..<2_000 {
            try await settings.set(number, forKey: "own")
            #expect(live.value?.first == number)
            if number % 16 == 0 { await Task.yield() }
        }
        let last = try await writers()
        while live.value != [1_999, last] { await Task.yield() }
        try await workspace.close()
    }

    @MainActor
    @Test func aLiveReadThatFailsReadsAgain() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set("no number", forKey: "a")
        let live = LiveRead(workspace) { view in
            try view.value(forKey: "a", as: Int.self, in: settings)
        }
        #expect(live.value == nil && (live.error as? RoostError)?.code == .typeMismatch)
        try await settings.set(3, forKey: "a")
        #expect(live.value == .some(3) && live.error == nil)
        try await workspace.close()
    }

    @MainActor
    @Test func aLiveReadThatGoesEndsFollowing() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let runs = Counter()
        var live: LiveRead<Int>? = LiveRead(workspace) { view in
            runs.value.add(1, ordering: .relaxed)
            return try view.count(of: settings)
        }
        #expect(live?.value == 0)
        live = nil
        try await settings.set(1, forKey: "a")
        #expect(runs.value.load(ordering: .relaxed) == 1)
        try await workspace.close()
    }
}
