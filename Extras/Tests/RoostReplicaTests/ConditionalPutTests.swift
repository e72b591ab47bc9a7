import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// Storages that do not keep conditional puts, each in its way: nobody may come to believe that a copy there is safe.
@Suite(.timeLimit(.minutes(5))) struct ConditionalPutTests {
    /// As Backblaze B2 does, and Amazon's S3 did.
    @Test(arguments: [false, true]) func aServerThatRefusesTheConditionEndsTheCopying(
        isSealed: Bool
    ) async throws {
        let server = try Self.server(
            puts: "501 Not Implemented",
            "<Error><Code>NotImplemented</Code><Message>A header</Message></Error>")
        defer { server.stop() }
        let error = try await Self.end(of: Self.storage(of: server), isSealed)
        #expect(error?.code == .io)
        #expect(error?.message.contains("does not keep conditional puts") == true)
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("501 NotImplemented: A header"), "\(text)")
    }

    /// As Google's, Garage, and older versions of many do.
    @Test(arguments: [false, true]) func aStorageThatIgnoresTheConditionEndsTheCopying(
        isSealed: Bool
    ) async throws {
        let error = try await Self.end(of: IgnoringStorage(), isSealed)
        #expect(error?.code == .io)
        #expect(error?.message.contains("does not keep conditional puts") == true)
    }

    /// It is no storage that says so, but what stands before it.
    @Test func aRefusalThatIsNoStoragesIsTriedAgain() async throws {
        let server = try Self.server(puts: "501 Not Implemented", "no server")
        defer { server.stop() }
        let error = await #expect(throws: RoostError.self) {
            try await Self.storage(of: server).putIfAbsent("a", [1])
        }
        #expect(error?.code == .io && error?.isOfConditionalPuts == false)
    }

    /// As the POSIX backend of Ceph did for a while: it refused what was not there.
    @Test(arguments: [false, true]) func aStorageThatRefusesAllIsToldOfAndNotPressed(
        isSealed: Bool
    ) async throws {
        let storage = RefusingStorage()
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: storage, encryption: newEncryption(isSealed))
        let isTold = try await eventually {
            replica.status.trouble?.message.contains("that there is none") == true
        }
        #expect(isTold)
        // The second comes a moment later, and the third after a longer one.
        #expect(storage.putCount.withLock { $0 } < 20)
        await replica.abandon()
        try await workspace.close()
    }

    /// As SeaweedFS did up to 4.16, and RustFS that was asked at two of its servers.
    @Test func aTakeoverThatAnothersEntryReplacedIsNone() async throws {
        let error = try await Self.end(of: RacingStorage(), false)
        #expect(error?.code == .io)
        #expect(error?.message.contains("took two entries for one place") == true)
    }

    /// What copying to `storage` ends with.
    private static func end(
        of storage: any ObjectStorage, _ isSealed: Bool
    ) async throws -> RoostError? {
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: storage, encryption: newEncryption(isSealed))
        let error = await #expect(throws: RoostError.self) { try await replica.waitUntilCopied() }
        await replica.abandon()
        try await workspace.close()
        return error
    }

    /// As much of an S3 server as has nothing and answers all puts alike.
    private static func server(puts status: String, _ body: String) throws -> StubServer {
        try StubServer { connection in
            while let head = connection.readWholeHead() {
                connection.readBody(of: head)
                if head.hasPrefix("PUT") {
                    connection.answer(status, body)
                } else if head.contains("list-type=2") {
                    connection.answer("200 OK", "<ListBucketResult></ListBucketResult>")
                } else {
                    connection.answer("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>")
                }
            }
        }
    }

    private static func storage(of server: StubServer) -> S3Storage {
        S3Storage(.init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")) {
            S3Credentials(accessKeyID: "a", secretAccessKey: "s")
        }
    }
}

/// Puts whatever stands there.
private struct IgnoringStorage: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        try await base.put(name, ObjectContent(bytes))
        return true
    }
}

/// Lets the first entry pass, and has another writer's in its place, which came at the same moment.
private final class RacingStorage: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        guard name == ObjectName.entry(0) else { return try await base.putIfAbsent(name, bytes) }
        var other = JournalEntry(
            kind: .takeover, index: 0, previous: JournalEntry.noDigest,
            standing: JournalEntry.Standing(writer: .random()))
        return try await base.putIfAbsent(name, other.encoded())
    }
}

/// Has nothing, and refuses to put anything where there is nothing.
private final class RefusingStorage: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()
    let putCount = Mutex(0)

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        putCount.withLock { $0 += 1 }
        return false
    }
}
