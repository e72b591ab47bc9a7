import Foundation
import Roost
import RoostEtcd
import RoostShared
import Synchronization
import Testing

/// What a client does where a member of etcd says less than it should, later, or in another order.
@Suite(.timeLimit(.minutes(5))) struct EtcdFaultTests {
    /// The answers of a member that has nothing but the namespace; none to what each test answers itself.
    static func usual(_ request: EtcdRequest, revision: Int64 = 1) -> [EtcdAnswer] {
        switch request.kind {
        case .status: [.message(EtcdMessage.status("3.5.9"))]
        case .range:
            [
                .message(
                    EtcdMessage.range(
                        request.isOfFormat ? [("test/%format", "roost 1")] : [], revision: revision)
                )
            ]
        case .grantLease: [.message(EtcdMessage.lease(7))]
        case .authenticate: [.message(EtcdMessage.token("token-\(request.connection)"))]
        default: []
        }
    }

    private func connect(
        _ servers: StubServer..., credentials: EtcdCredentials = .none
    ) async throws -> SharedWorkspace {
        try await .connect(
            to: .etcd(
                endpoints: servers.map { "http://127.0.0.1:\($0.port)" }, credentials: credentials),
            namespace: "test", configuration: .init(callDeadline: .seconds(120)))
    }

    // MARK: Calls

    /// The outcome of a write that is not answered in its short time is unknown; the next one asks another member.
    @Test func aWriteThatIsNotAnsweredIsTheLastOfItsConnection() async throws {
        let counts = Mutex([0, 0])
        func server(_ number: Int) throws -> StubServer {
            try .etcd { request in
                if request.kind == .transaction { counts.withLock { $0[number] += 1 } }
                return Self.usual(request)
            }
        }
        let (one, two) = (try server(0), try server(1))
        defer { for server in [one, two] { server.stop() } }
        let workspace = try await connect(one, two)
        let values = workspace.withCallDeadline(.seconds(1)).dictionary("values")
        // On a busy machine a connection may take the whole time, and nothing is written then.
        for _ in 0..<20 where counts.withLock({ $0.contains(0) }) {
            let error = await #expect(throws: RoostError.self) {
                try await values.set(1, forKey: "n")
            }
            #expect(error?.code == .unknownOutcome || error?.code == .unavailable)
        }
        #expect(counts.withLock { $0.allSatisfy { $0 > 0 } })
        await workspace.close()
    }

    /// Who begins to ask for a lease waits no longer than those who come after it.
    @Test func aWriteThatWaitsForItsLeaseIsCancelled() async throws {
        let asked = Mutex(false)
        let server = try StubServer.etcd { request in
            guard request.kind == .grantLease else { return Self.usual(request) }
            asked.withLock { $0 = true }
            return []
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        let write = Task {
            try await workspace.dictionary("values").set(
                1, forKey: "n", expiresIn: .seconds(977))
        }
        while !asked.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        let begin = ContinuousClock.now
        write.cancel()
        let error = await #expect(throws: RoostError.self) { try await write.value }
        #expect(error?.code == .cancelled)
        #expect(.now - begin < .seconds(60))
        await workspace.close()
    }

    /// etcd may lose a lease between its granting and the write, as where its data was restored; but not each.
    @Test func aWriteWhoseLeasesAreLostSaysThatItWasNotMade() async throws {
        let server = try StubServer.etcd { request in
            guard request.kind == .transaction else { return Self.usual(request) }
            return [.refusal(status: 5, "etcdserver: requested lease not found")]
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        let error = await #expect(throws: RoostError.self) {
            try await workspace.dictionary("values").set(1, forKey: "n")
        }
        #expect(error?.code == .unavailable)
        await workspace.close()
    }

    // MARK: Connections

    private func eventually(
        _ holds: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while !holds(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
        #expect(holds(), sourceLocation: sourceLocation)
    }

    private func hasEnded(all server: StubServer, _ endCount: Int) -> Bool {
        endCount > 0 && endCount == server.connectionCount
    }

    @Test func aMemberThatIsTooOldKeepsNoConnection() async throws {
        let endCount = Mutex(0)
        let server = try StubServer.etcd(onEnd: { endCount.withLock { $0 += 1 } }) { _ in
            [.message(EtcdMessage.status("3.3.27"))]
        }
        defer { server.stop() }
        await #expect(throws: RoostError.self) { _ = try await connect(server) }
        // On a busy machine, a connection that was not made in time has another after it.
        try await eventually { hasEnded(all: server, endCount.withLock { $0 }) }
    }

    @Test func aWorkspaceThatNobodyRefersToKeepsNoConnection() async throws {
        let endCount = Mutex(0)
        let server = try StubServer.etcd(onEnd: { endCount.withLock { $0 += 1 } }) {
            Self.usual($0)
        }
        defer { server.stop() }
        _ = try await connect(server)
        try await eventually { hasEnded(all: server, endCount.withLock { $0 }) }
    }

    // MARK: Watching

    /// The versions of so many changes of `values` after version 50.
    private func versions(_ workspace: SharedWorkspace, count: Int) async -> [UInt64] {
        var versions: [UInt64] = []
        for await change in workspace.dictionary("values").changes(as: Int.self, since: 50) {
            versions.append(change.version ?? 0)
            if versions.count == count { break }
        }
        return versions
    }

    /// How far a member was when it was asked, before it had a watch, says nothing of that watch; whether the answer
    /// comes before the member tells that it has the watch, or after that.
    @Test(arguments: [false, true])
    func howFarAMemberWasBeforeAWatchIsNotBelievedOfIt(isOvertaken: Bool) async throws {
        let askedCount = Mutex(0)
        let server = try StubServer.etcd { request in
            switch request.kind {
            case .progress:
                // The first answer is on its way.
                let isFirst = askedCount.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? [] : [.message(EtcdMessage.progress(revision: 100))]
            case .createWatch:
                let created = EtcdMessage.created(request.watch, revision: 100)
                if request.watch == 1 { return [.message(created)] }
                let answer = EtcdMessage.progress(revision: 100)
                let events = EtcdMessage.removals(
                    request.watch, of: "test/values/n", at: 50...100)
                return (isOvertaken ? [created, answer, events] : [answer, created, events]).map {
                    .message($0)
                }
            default: return Self.usual(request, revision: 100)
            }
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        let other = Task { await versions(workspace, count: 1) }
        while askedCount.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(await versions(workspace, count: 50) == Array(51...100))
        other.cancel()
        _ = await other.value
        await workspace.close()
    }

    /// A long answer comes in parts, which are told as they come: but not the last commit of one, of which the next may have
    /// more.
    @Test(arguments: [false, true])
    func anAnswerInPartsIsToldCommitByCommit(isWhole: Bool) async throws {
        let server = try StubServer.etcd { request in
            guard request.kind == .createWatch else { return Self.usual(request, revision: 60) }
            let watch = request.watch
            func removals(_ key: String, _ revisions: ClosedRange<Int64>) -> [UInt8] {
                EtcdMessage.removals(watch, of: "test/values/\(key)", at: revisions)
            }
            let begin = [
                EtcdMessage.created(watch, revision: 60), EtcdMessage.part(removals("n", 51...53)),
            ]
            let rest = [EtcdMessage.part(removals("o", 53...53)), removals("n", 54...54)]
            return (isWhole ? begin + rest : begin).map { .message($0) }
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        let expected: [UInt64] = isWhole ? [51, 52, 53, 53, 54] : [51, 52]
        #expect(await versions(workspace, count: expected.count) == expected)
        await workspace.close()
    }

    /// A proxy that gives watches its own numbers, from zero on: what it tells is nobody's, or another's.
    @Test func whoWatchesOverAProxyWithNumbersOfItsOwnIsToldSo() async throws {
        let watchCount = Mutex(0)
        let server = try StubServer.etcd { request in
            guard request.kind == .createWatch else { return Self.usual(request, revision: 60) }
            watchCount.withLock { $0 += 1 }
            return [
                EtcdMessage.created(0, revision: 60),
                EtcdMessage.removals(0, of: "test/values/n", at: 51...60),
            ].map { .message($0) }
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        #expect(await versions(workspace, count: 1).isEmpty)
        #expect(watchCount.withLock { $0 } > 1)
        await workspace.close()
    }

    /// Where nothing changes any more, an answer to what was asked since tells how far the watch is.
    @Test func aWatchIsAsFarAsItsMemberIsWhereNothingChanges() async throws {
        let server = try StubServer.etcd { request in
            switch request.kind {
            case .createWatch:
                [.message(EtcdMessage.created(request.watch, revision: 100))]
            case .progress: [.message(EtcdMessage.progress(revision: 100))]
            default: Self.usual(request, revision: request.isOfFormat ? 100 : 50)
            }
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        let local = try await Workspace.inMemory()
        let followed = try await workspace.follow("values", in: local)
        #expect(followed.revision == 50)
        try await followed.reached(100, within: .seconds(120))
        await followed.close()
        try await local.close()
        await workspace.close()
    }

    /// An answer that was long on its way says how far the member was when it was asked; and a change says nothing of how
    /// far it is now.
    @Test func theLagCountsFromWhenTheMemberWasAsked() async throws {
        let loaded = Mutex(ContinuousClock.now)
        let server = try StubServer.etcd { request in
            switch request.kind {
            case .range where !request.isOfFormat:
                loaded.withLock { $0 = .now }
                return Self.usual(request, revision: 50)
            case .createWatch:
                return [
                    EtcdMessage.created(request.watch, revision: 100),
                    EtcdMessage.removals(request.watch, of: "test/values/n", at: 51...60),
                ].map { .message($0) }
            case .progress:
                Thread.sleep(forTimeInterval: 2)
                return [.message(EtcdMessage.progress(revision: 100))]
            default: return Self.usual(request, revision: request.isOfFormat ? 100 : 50)
            }
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        let local = try await Workspace.inMemory()
        let begin = ContinuousClock.now
        let followed = try await workspace.follow("values", in: local)
        try await followed.reached(60, within: .seconds(120))
        // What was before the watch began is of no known time: what was loaded was asked for before it came here.
        let age = ContinuousClock.now - loaded.withLock { $0 }
        #expect(followed.lag >= age)
        try await followed.reached(100, within: .seconds(120))
        #expect(followed.lag >= .seconds(2))
        #expect(followed.lag < .now - begin)
        await followed.close()
        try await local.close()
        await workspace.close()
    }

    /// A member answers nothing while a watch is behind, and that question never. What it answers later is of a later
    /// question.
    @Test func anAnswerIsOfTheLastQuestion() async throws {
        let asked = Mutex<[ContinuousClock.Instant]>([])
        let server = try StubServer.etcd { request in
            switch request.kind {
            case .createWatch:
                return [.message(EtcdMessage.created(request.watch, revision: 100))]
            case .progress:
                let count = asked.withLock { asked in
                    asked.append(.now)
                    return asked.count
                }
                return count == 1 ? [] : [.message(EtcdMessage.progress(revision: 100))]
            default: return Self.usual(request, revision: request.isOfFormat ? 100 : 50)
            }
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        let local = try await Workspace.inMemory()
        let followed = try await workspace.follow("values", in: local)
        while asked.withLock({ $0.count }) < 3 { try await Task.sleep(for: .milliseconds(20)) }
        let questions = asked.withLock { $0 }
        // The third answer is on its way, and the one before it is of a later question than the first.
        let age = ContinuousClock.now - questions[0]
        #expect(followed.lag < age)
        try await followed.reached(100, within: .seconds(120))
        let end = ContinuousClock.now + .seconds(120)
        var least = followed.lag
        while least >= .seconds(1), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(20))
            least = min(least, followed.lag)
        }
        #expect(least < .seconds(1))
        await followed.close()
        try await local.close()
        await workspace.close()
    }

    /// A member that takes over may be of an older version, which says how far it is before it has told all.
    @Test func theMemberThatWatchesIsAskedForItsVersion() async throws {
        let asked = Mutex(0)
        let server = try StubServer.etcd { request in
            switch request.kind {
            case .status:
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                return [.message(EtcdMessage.status(isFirst ? "3.5.9" : "3.5.7"))]
            case .createWatch:
                return [.message(EtcdMessage.created(request.watch, revision: 50))]
            case .progress:
                return [
                    EtcdMessage.progress(revision: 100),
                    EtcdMessage.removals(1, of: "test/values/n", at: 51...100),
                ].map { .message($0) }
            default: return Self.usual(request, revision: 100)
            }
        }
        defer { server.stop() }
        let workspace = try await connect(server)
        #expect(await versions(workspace, count: 50) == Array(51...100))
        await workspace.close()
    }

    /// A token that has run out is that of the stream too, over which there may have been watches for long.
    @Test func aWatchBeginsWithATokenThatHasNotRunOut() async throws {
        let hasRunOut = Mutex(false)
        let server = try StubServer.etcd { request in
            let isRefused = request.connection == 1 && hasRunOut.withLock { $0 }
            switch request.kind {
            case .createWatch where isRefused:
                return [
                    .message(EtcdMessage.refused(request.watch, "etcdserver: permission denied"))
                ]
            case .createWatch:
                return [
                    EtcdMessage.created(request.watch, revision: 60),
                    EtcdMessage.removals(request.watch, of: "test/values/n", at: 51...60),
                ].map { .message($0) }
            default:
                if request.isCall, isRefused {
                    return [.refusal(status: 16, "etcdserver: invalid auth token")]
                }
                return Self.usual(request, revision: 60)
            }
        }
        defer { server.stop() }
        let workspace = try await connect(
            server, credentials: .none.user("test-user", password: "secret"))
        let first = Task { await versions(workspace, count: 20) }
        #expect(await versions(workspace, count: 10) == Array(51...60))
        hasRunOut.withLock { $0 = true }
        #expect(await versions(workspace, count: 10) == Array(51...60))
        first.cancel()
        _ = await first.value
        await workspace.close()
    }
}
