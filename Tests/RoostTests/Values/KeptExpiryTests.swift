import Foundation
import Roost
import RoostTestSupport
import Testing

/// An update of a value that expires may leave it its deadline.
@Suite(.timeLimit(.minutes(5))) struct KeptExpiryTests {
    private let time = SettableTime()

    private func workspace() async throws -> Workspace {
        try await Workspace.inMemory(
            configuration: .init(shardCount: 2, clock: .settable(time)))
    }

    @Test func anUpdateKeepsTheDeadlineWhereItIsAskedTo() async throws {
        let workspace = try await workspace()
        let values = workspace.dictionary("values")
        for key in ["kept", "stays", "optional", "typed"] {
            try await values.set(1, forKey: key, expiresIn: .seconds(60))
        }
        time.advance(by: .seconds(20))
        try await values.update("kept", default: 0, keepsExpiry: true) { $0 += 1 }
        try await values.update("stays", default: 0) { $0 += 1 }
        try await values.update("optional", as: Int.self, keepsExpiry: true) { $0 = ($0 ?? 0) + 1 }
        try await values.update(Key<Int>("typed", default: 0), keepsExpiry: true) { $0 += 1 }
        for key in ["kept", "optional", "typed"] {
            let left = try #require(try values.remainingTime(forKey: key))
            #expect(left > .seconds(39) && left <= .seconds(40), "\(key)")
            #expect(try values[key, as: Int.self] == 2, "\(key)")
        }
        #expect(try values.remainingTime(forKey: "stays") == nil)
        time.advance(by: .seconds(40))
        #expect(try values.keys == ["stays"])
        try await workspace.close()
    }

    /// Neither one that stays, nor one that was not there, nor one that had gone has a deadline to be kept.
    @Test func aValueWithoutADeadlineStays() async throws {
        let workspace = try await workspace()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "stays")
        try await values.set(1, forKey: "gone", expiresIn: .seconds(5))
        time.advance(by: .seconds(5))
        for key in ["stays", "new", "gone"] {
            try await values.update(key, default: 0, keepsExpiry: true) { $0 += 1 }
        }
        time.advance(by: .seconds(100))
        #expect(try values["stays", as: Int.self] == 2)
        #expect(try values["new", as: Int.self] == 1)
        #expect(try values["gone", as: Int.self] == 1)
        try await workspace.close()
    }

    /// With its deadline kept it is the same value; without it becomes one that stays.
    @Test func anEqualValueIsWrittenWhereItIsToStay() async throws {
        let workspace = try await workspace()
        let values = workspace.dictionary("values")
        let key = Key<String>("key", default: "")
        try await values.set("a", for: key, expiresIn: .seconds(60))
        let version = try values.entry(forKey: "key", as: String.self).version
        try await values.update(key, keepsExpiry: true) { $0 = "a" }
        #expect(try values.entry(forKey: "key", as: String.self).version == version)
        #expect(try values.remainingTime(for: key) != nil)
        try await values.update(key) { $0 = "a" }
        #expect(try values.entry(forKey: "key", as: String.self).version != version)
        #expect(try values.remainingTime(for: key) == nil)
        try await workspace.close()
    }

    /// Where others are in the way it is a transaction in the end.
    @Test func manyUpdatesKeepIt() async throws {
        let workspace = try await workspace()
        let ids = workspace.dictionary("values", keys: Int.self)
        try await ids.set(0, forKey: 7, expiresIn: .seconds(60))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<40 {
                        try await ids.update(7, default: 0, keepsExpiry: true) { $0 += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try ids[7, as: Int.self] == 320)
        time.advance(by: .seconds(60))
        #expect(try ids[7, as: Int.self] == nil)
        try await workspace.close()
    }
}
