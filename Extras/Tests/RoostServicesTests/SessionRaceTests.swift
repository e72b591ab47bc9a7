import Roost
import RoostServices
import Testing

/// Calls about one session at the same moment.
@Suite(.timeLimit(.minutes(10))) struct SessionRaceTests {
    /// Whoever reads or changes a session at the moment of its end does not bring it back.
    @Test func aSessionThatWasEndedStaysSo() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let sessions = SessionStore<[String: String]>(workspace, idleLimit: .seconds(600))
        for round in 0..<2_000 {
            let token = try await sessions.begin(["user": "ada"])
            time.advance(by: .seconds(100))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await sessions.session(of: token) }
                group.addTask { try await sessions.update(["user": "eve"], of: token) }
                group.addTask { try await sessions.end(token) }
                try await group.waitForAll()
            }
            try #require(try await sessions.session(of: token) == nil, "round \(round)")
        }
        try await workspace.close()
    }

    /// A time that is renewed does not take a change back.
    @Test func aChangeOfASessionIsKept() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let sessions = SessionStore<Int>(workspace, idleLimit: .seconds(600))
        for round in 0..<2_000 {
            let token = try await sessions.begin(0)
            time.advance(by: .seconds(100))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await sessions.session(of: token) }
                group.addTask { try await sessions.update(1, of: token) }
                try await group.waitForAll()
            }
            try #require(try await sessions.session(of: token) == 1, "round \(round)")
        }
        try await workspace.close()
    }
}
