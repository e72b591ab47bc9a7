import Foundation
import RoostIO
import RoostShared
import Testing

@testable import RoostPostgres

/// Calls behind one that a server does not answer: each has its own time, and its own caller.
@Suite(.timeLimit(.minutes(5))) struct PostgresWaitingTests {
    private struct Silence {
        let server: StubServer
        let session: PostgresSession
        /// It has the session until it ends.
        let first: Task<Void, any Error>

        /// Of the calls that are not over.
        var callCount: Int { session.callCount.load(ordering: .relaxed) }

        func waitForCalls(_ count: Int) async throws {
            while callCount < count { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    private static func run(_ session: PostgresSession, within duration: Duration) async throws {
        try await CancellationFlag.with { flag in
            _ = try await session.run(
                PostgresSchema.clock, [], before: .now + duration, mayRepeat: true, flag)
        }
    }

    private func beginCall() async throws -> Silence {
        let server = try StubServer.silent()
        let session = PostgresSession(
            "postgres://app:secret@127.0.0.1:\(server.port)/app?sslmode=disable&gssencmode=disable",
            name: "test", isSerializable: true)
        let first = Task { try await Self.run(session, within: .seconds(120)) }
        // Whoever has the session connects.
        while server.connectionCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
        return Silence(server: server, session: session, first: first)
    }

    @Test func aCallBehindAnotherEndsAtItsDeadline() async throws {
        let silence = try await beginCall()
        defer { silence.server.stop() }
        let error = await #expect(throws: RoostError.self) {
            try await Self.run(silence.session, within: .seconds(1))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("calls before it took all the time") == true)
        // The one before it has not ended.
        #expect(silence.callCount == 1)
        silence.first.cancel()
        _ = await silence.first.result
    }

    /// They share a timer, which the earliest sets.
    @Test func eachOfSeveralCallsEndsAtItsOwnDeadline() async throws {
        let silence = try await beginCall()
        defer { silence.server.stop() }
        let long = Task { try await Self.run(silence.session, within: .seconds(110)) }
        try await silence.waitForCalls(2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for milliseconds in [2600, 400, 1500, 400] {
                group.addTask {
                    let limit = Duration.milliseconds(milliseconds)
                    let begin = ContinuousClock.now
                    let error = await #expect(throws: RoostError.self) {
                        try await Self.run(silence.session, within: limit)
                    }
                    let taken = ContinuousClock.now - begin
                    #expect(error?.code == .unavailable)
                    #expect(taken >= limit, "\(taken) of \(limit)")
                }
            }
            try await group.waitForAll()
        }
        // Those that have more time have not ended.
        #expect(silence.callCount == 2)
        for call in [long, silence.first] {
            call.cancel()
            _ = await call.result
        }
    }

    @Test func aCallBehindAnotherEndsWhereItIsCancelled() async throws {
        let silence = try await beginCall()
        defer { silence.server.stop() }
        let second = Task { try await Self.run(silence.session, within: .seconds(60)) }
        try await silence.waitForCalls(2)
        second.cancel()
        let error = await #expect(throws: RoostError.self) { try await second.value }
        #expect(error?.code == .cancelled)
        // The one before it has not ended.
        #expect(silence.callCount == 1)
        silence.first.cancel()
        _ = await silence.first.result
    }

    /// A server that cannot be reached is asked again, and another in its place, whatever it is called.
    @Test func onlyWhatAServerRefusesIsNotPermitted() {
        let place = "connection to server at \"alerts-db\" (10.0.0.7), port 5432 failed: "
        #expect(PostgresConnecting.failure(place + "Connection refused") is PostgresFailure)
        for alert in [
            "tlsv13 alert certificate required", "sslv3 alert certificate unknown",
            "ssl/tls alert bad certificate",
        ] {
            let error = PostgresConnecting.failure(place + "SSL error: " + alert) as? RoostError
            #expect(error?.code == .notPermitted)
        }
    }

    /// Whatever language the server speaks; and one that is about to start is asked again.
    @Test(arguments: [
        ("28P01", RoostError.Code.notPermitted), ("28000", .notPermitted), ("3D000", .notPermitted),
        ("57P03", .unavailable), ("53300", .unavailable),
    ])
    func aRefusalIsToldByItsCode(code: String, expected: RoostError.Code) async throws {
        let server = try StubServer.postgres(
            refusing: code,
            "Passwort-Authentifizierung f\u{fc}r Benutzer \u{bb}app\u{ab} fehlgeschlagen")
        defer { server.stop() }
        let session = PostgresSession(
            "postgres://app:secret@127.0.0.1:\(server.port)/app?sslmode=disable&gssencmode=disable",
            name: "test", isSerializable: true)
        let error = await #expect(throws: RoostError.self) {
            // What is asked again is asked until the deadline.
            try await Self.run(session, within: .seconds(expected == .notPermitted ? 60 : 1))
        }
        #expect(error?.code == expected)
        #expect(error?.message.contains("secret") == false)
        await session.close()
    }

    /// The tables are not found then, and cannot be made: nothing that is asked again changes that.
    @Test func whoMayUseNoSchemaIsNotPermitted() {
        let failure = PostgresFailure(
            state: "3F000", message: "no schema has been selected to create in", wasSent: true)
        #expect(failure.refusal?.code == .notPermitted)
    }

    /// What another program keeps PostgreSQL from having room for is not too large.
    @Test func aFullQueueOfNoticesIsNoMatterOfSize() {
        func code(_ state: String, _ message: String) -> RoostError.Code? {
            PostgresFailure(state: state, message: message, wasSent: true).refusal?.code
        }
        #expect(code("54000", "too many notifications in the NOTIFY queue") == .outOfSpace)
        #expect(code("54000", "zu viele Benachrichtigungen in NOTIFY-Schlange") == .outOfSpace)
        #expect(code("54000", "array size exceeds the maximum allowed") == .tooLarge)
        #expect(code("53200", "out of memory") == .tooLarge)
    }

    private func session(_ servers: StubServer...) -> PostgresSession {
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return PostgresSession(
            "postgres://app:secret@\(hosts)/app?sslmode=disable&gssencmode=disable", name: "test",
            isSerializable: false)
    }

    /// A standby whose rules let nobody in: the server that writes is asked all the same.
    @Test func aServerBehindOneThatRefusesIsAsked() async throws {
        let refusing = try StubServer.postgres(refusing: "28000", "no pg_hba.conf entry for host")
        let other = try StubServer.postgres(refusing: "28000", "no pg_hba.conf entry for host")
        let writing = try StubServer.postgres(version: "15.0") { _, _ in
            [[UInt64(1).networkBytes, UInt64(1).networkBytes, nil, nil, nil]]
        }
        defer { for server in [refusing, other, writing] { server.stop() } }
        func changes(_ session: PostgresSession) async throws -> PostgresRows {
            try await CancellationFlag.with { flag in
                try await session.run(
                    PostgresSchema.changes, [.number(1), .number(1), .number(10)],
                    before: .now + .seconds(60), mayRepeat: true, flag)
            }
        }
        let first = session(refusing, writing)
        #expect(try await changes(first).number(0, 0) == 1)
        await first.close()
        // Where there is none, nobody waits for it.
        let second = session(refusing, other)
        let error = await #expect(throws: RoostError.self) { try await changes(second) }
        #expect(error?.code == .notPermitted)
        await second.close()
    }

    /// Some keep the sessions of others from everybody, where a standby's silence could be seen, or settings.
    @Test(
        arguments: ["none", "connected"], ["pg_stat_activity", "client_connection_check_interval"])
    func whoMayNotDoWhatIsNotNeededIsLetIn(standby: String, refused: String) async throws {
        let server = try StubServer.postgres(
            version: "15.0", standby: standby, refused: refused
        ) { _, _ in
            [[UInt64(1).networkBytes, UInt64(1).networkBytes, nil, nil, nil]]
        }
        defer { server.stop() }
        let reading = session(server)
        let rows = try await CancellationFlag.with { flag in
            try await reading.run(
                PostgresSchema.changes, [.number(1), .number(1), .number(10)],
                before: .now + .seconds(60), mayRepeat: true, flag)
        }
        #expect(rows.number(0, 0) == 1)
        await reading.close()
    }

    @Test func closingEndsTheCallsThatAreUnderWay() async throws {
        let silence = try await beginCall()
        defer { silence.server.stop() }
        let second = Task { try await Self.run(silence.session, within: .seconds(60)) }
        try await silence.waitForCalls(2)
        let begin = ContinuousClock.now
        await silence.session.close()
        for call in [silence.first, second] {
            let error = await #expect(throws: RoostError.self) { try await call.value }
            #expect(error?.code == .closed)
        }
        #expect(.now - begin < .seconds(60))
    }

    // MARK: Watching

    /// What was told of the changes up to the hundredth revision, of which the first is an empty server's, from one connection's end to the next.
    private func revisions(_ watches: PostgresWatches) async -> [UInt64] {
        var revisions: [UInt64] = []
        var reached = PostgresSchema.firstRevision
        // A machine that stands still for a while has any round take too long.
        for _ in 0..<20 where reached < 100 {
            let (events, source) = SharedEvents.make()
            await watches.add(
                SharedKeyRange(lower: [], upper: [0xff]), after: reached, source)
            do {
                for try await case .changes(let changes, let through) in events {
                    revisions += changes.map(\.revision)
                    reached = through
                    if reached == 100 { break }
                }
            } catch {
                // What could not be read in its time is read in smaller parts.
                continue
            }
        }
        return revisions
    }

    /// Where values are large a server tells a part of what was asked for, and nothing behind it is passed over.
    @Test func changesThatAreLargeAreReadInSmallerParts() async throws {
        let key = Array("test/values/n".utf8)
        let value = [UInt8](repeating: 7, count: PostgresWatches.roundBytes / 2)
        let server = try StubServer.postgres(version: "15.0") { from, count in
            let state = [UInt64(100).networkBytes, UInt64(0).networkBytes]
            guard from < 100 else { return [state + [nil, nil, nil]] }
            var bytes = 0
            var rows: [[[UInt8]?]] = []
            for revision in from + 1...min(100, from + count)
            where bytes < PostgresWatches.roundBytes {
                let told: [UInt8]? = revision > 90 ? value : nil
                bytes += key.count + (told?.count ?? 0)
                rows.append(state + [revision.networkBytes, key, told])
            }
            return rows
        }
        defer { server.stop() }
        let watches = PostgresWatches(session(server))
        #expect(await revisions(watches) == Array(2...100))
        await watches.close()
    }

    /// A server that takes longer for all that is asked for at once than a round has, as it is much.
    @Test func changesThatTakeTooLongAreReadInSmallerParts() async throws {
        let server = try StubServer.postgres(version: "15.0") { from, count in
            Thread.sleep(forTimeInterval: 0.06 * Double(count))
            let state = [UInt64(100).networkBytes, UInt64(0).networkBytes]
            guard from < 100 else { return [state + [nil, nil, nil]] }
            return (from + 1...min(100, from + count)).map {
                state + [$0.networkBytes, Array("test/values/n".utf8), nil]
            }
        }
        defer { server.stop() }
        let session = PostgresSession(
            "postgres://app:secret@127.0.0.1:\(server.port)/app?sslmode=disable&gssencmode=disable",
            name: "test", isSerializable: false)
        let watches = PostgresWatches(session)
        #expect(await revisions(watches) == Array(2...100))
        await watches.close()
    }
}
