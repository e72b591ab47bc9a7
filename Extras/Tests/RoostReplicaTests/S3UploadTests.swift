import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// Uploads in parts, to a server that begins them and takes no part.
@Suite(.timeLimit(.minutes(5))) struct S3UploadTests {
    @Test func partsOfAnUploadThatIsCancelledAreRemoved() async throws {
        let server = try UploadServer()
        defer { server.stop() }
        let storage = server.storage
        let upload = Task {
            try await storage.put("a", ObjectContent([UInt8](repeating: 1, count: 40 << 20)))
        }
        #expect(try await eventually { server.seen.withLock { $0.partCount } >= 3 })
        upload.cancel()
        await #expect(throws: CancellationError.self) { try await upload.value }
        #expect(server.seen.withLock { $0.removed } == ["/b/p/a?uploadId=u1"])
    }

    /// The first failure is told, and whoever waits for it does not wait for ever.
    @Test func anUploadOfWhichPartsCannotBeRemovedEndsToo() async throws {
        let server = try UploadServer(removes: false)
        defer { server.stop() }
        let storage = server.storage
        let upload = Task {
            try await storage.put("a", ObjectContent([UInt8](repeating: 1, count: 40 << 20)))
        }
        #expect(try await eventually { server.seen.withLock { $0.partCount } >= 3 })
        upload.cancel()
        await #expect(throws: CancellationError.self) { try await upload.value }
        #expect(server.seen.withLock { $0.removed }.count == 1)
    }

    /// What the time-out is of is the whole answer.
    @Test func anAnswerThatStopsAfterItsHeadIsNotWaitedFor() async throws {
        let server = try StubServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab".utf8))
            // It never comes to an end.
            while connection.read(1) != nil {}
        }
        defer { server.stop() }
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)"),
            timeout: .milliseconds(50)
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        let error = await #expect(throws: RoostError.self) {
            try await storage.get("a", maximumSizeBytes: 5)
        }
        #expect(error?.code == .io)
        #expect(
            error?.message == "the storage at http://127.0.0.1:\(server.port) does not answer")
        #expect(error?.file == "s3://b/p/a")
    }

    /// How long an object takes is known only where its head is there.
    @Test func aConnectionThatSaysNothingCostsNoTimeForBytes() async throws {
        let server = try StubServer.silent()
        defer { server.stop() }
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)"),
            timeout: .milliseconds(50)
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        let begin = ContinuousClock.now
        // Five attempts, of which each would take half a minute for so many bytes.
        await #expect(throws: RoostError.self) {
            try await storage.get("a", maximumSizeBytes: 16 << 20)
        }
        #expect(ContinuousClock.now - begin < .seconds(100))
    }

    /// A server that has the body's digest before the body takes no part of it for all.
    @Test func whatIsPutHasItsDigestInTheHead() async throws {
        let heads = Arc<[String]>([])
        let server = try StubServer { connection in
            while let head = connection.readWholeHead() {
                heads.withLock { $0.append(head) }
                connection.readBody(of: head)
                connection.answer("200 OK", "")
            }
        }
        defer { server.stop() }
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        #expect(try await storage.putIfAbsent("journal/1", Array("abc".utf8)))
        try await storage.put("bases/1", ObjectContent(Array("abc".utf8)))
        let found = heads.withLock { $0 }
        #expect(found.count == 2)
        for head in found {
            // Of RFC 1321.
            #expect(head.contains("content-md5: kAFQmDzST7DWlj99KOF/cg=="), "\(head)")
            #expect(head.contains("SignedHeaders=content-md5;"))
        }
    }

    /// An answer begins before the outcome is known, and may break off.
    @Test(arguments: [false, true]) func anUploadIsCompleteOnceAnAnswerOrAListSaysSo(
        isListed: Bool
    ) async throws {
        let content = ObjectContent([UInt8](repeating: 1, count: (16 << 20) + 1))
        let found =
            isListed
            ? "<Contents><Key>p/a</Key><Size>\(content.sizeBytes)</Size></Contents>" : ""
        let server = try StubServer { connection in
            while let head = connection.readWholeHead() {
                connection.readBody(of: head)
                if head.hasPrefix("POST /b/p/a?uploads") {
                    connection.answer("200 OK", "<R><UploadId>u1</UploadId></R>")
                } else if head.hasPrefix("PUT") {
                    connection.answer("200 OK\r\nETag: \"t\"", "")
                } else if head.hasPrefix("GET") {
                    connection.answer("200 OK", "<ListBucketResult>\(found)</ListBucketResult>")
                } else {
                    connection.answer("200 OK", "")
                }
            }
        }
        defer { server.stop() }
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        if isListed {
            try await storage.put("a", content)
        } else {
            let error = await #expect(throws: RoostError.self) {
                try await storage.put("a", content)
            }
            #expect(error?.code == .io)
        }
    }

    /// What distributes requests answers so to all of them while it knows no server, and retention would go by it.
    @Test(arguments: [
        ("<Error><Code>NoSuchKey</Code></Error>", true), ("", true),
        ("<Error><Code>NoSuchBucket</Code></Error>", false), ("default backend - 404", false),
    ]) func anObjectIsMissingWhereAStorageSaysSo(body: String, isMissing: Bool) async throws {
        let server = try StubServer { connection in
            while connection.readHead() != nil { connection.answer("404 Not Found", body) }
        }
        defer { server.stop() }
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        if isMissing {
            let found = try await storage.get("a", maximumSizeBytes: 5)
            #expect(found == nil)
        } else {
            let error = await #expect(throws: RoostError.self) {
                try await storage.get("a", maximumSizeBytes: 5)
            }
            #expect(error?.code == .io && error?.file == "s3://b/p/a")
        }
    }

    /// As where credentials were not to be had in time, which would end the copying for good.
    @Test func aCancellationOfSomethingElseCancelsNoRequest() async throws {
        let server = try StubServer { connection in
            while connection.readHead() != nil { connection.answer("404 Not Found", "") }
        }
        defer { server.stop() }
        let askCount = Arc(0)
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")
        ) {
            let isFirst = askCount.withLock { count -> Bool in
                count += 1
                return count == 1
            }
            if isFirst { throw CancellationError() }
            return S3Credentials(accessKeyID: "a", secretAccessKey: "s")
        }
        let found = try await storage.get("a", maximumSizeBytes: 5)
        #expect(found == nil)
        #expect(askCount.withLock { $0 } == 2)
    }

    /// What is signed for one place is denied at another, which says nothing of what is wrong.
    @Test func aRedirectionIsToldAndNotFollowed() async throws {
        let heads = Arc<[String]>([])
        let server = try StubServer { connection in
            while let head = connection.readWholeHead() {
                heads.withLock { $0.append(head) }
                connection.answer(
                    "307 Temporary Redirect\r\nLocation: /elsewhere\r\nx-amz-bucket-region: eu-west-1",
                    "<Error><Code>TemporaryRedirect</Code><Message>Elsewhere</Message></Error>")
            }
        }
        defer { server.stop() }
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        let error = await #expect(throws: RoostError.self) {
            try await storage.get("a", maximumSizeBytes: 5)
        }
        #expect(
            error?.message
                == "the storage answered 307 TemporaryRedirect: Elsewhere The bucket is in the region eu-west-1: set AWS_REGION"
        )
        #expect(heads.withLock { $0.count } == 1)
    }

    /// The time-out of an attempt would be longer, and there are several.
    @Test func whoRefusesConnectionsIsToldOfSoon() async throws {
        // Nobody listens at the port of a server that has ended.
        let server = try StubServer.silent()
        server.stop()
        let storage = S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
        let begin = ContinuousClock.now
        let error = await #expect(throws: RoostError.self) {
            try await storage.list(prefix: "", after: nil)
        }
        #expect(error?.code == .io && error?.file == "s3://b/p/")
        #expect(ContinuousClock.now - begin < .seconds(60))
    }
}

/// As much of an S3 server as begins an upload and ends one.
private final class UploadServer: Sendable {
    struct Seen {
        var partCount = 0
        var removed: [String] = []
    }

    let seen: Arc<Seen>
    private let server: StubServer
    private let removes: Bool

    /// A removal is asked for once, so that it has time to come where it is answered.
    var storage: S3Storage {
        S3Storage(
            .init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)"),
            timeout: .seconds(removes ? 30 : 5)
        ) { S3Credentials(accessKeyID: "a", secretAccessKey: "s") }
    }

    /// - Parameter removes: whether it answers who asks for an upload to be removed.
    init(removes: Bool = true) throws {
        let seen = Arc(Seen())
        self.seen = seen
        self.removes = removes
        server = try StubServer { connection in
            while let (method, target) = connection.readHead() {
                switch (method, target) {
                case ("POST", _):
                    connection.answer("200 OK", "<R><UploadId>u1</UploadId></R>")
                case ("PUT", _):
                    seen.withLock { $0.partCount += 1 }
                    // It is never answered, until the client goes.
                    while connection.read(1 << 16) != nil {}
                    return
                case ("DELETE", _):
                    seen.withLock { $0.removed.append(target) }
                    if removes { connection.answer("204 No Content", "") }
                default: connection.answer("400 Bad Request", "")
                }
            }
        }
    }

    func stop() { server.stop() }
}

/// What a closure and its owner share.
private final class Arc<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}

extension StubConnection {
    /// `nil` where the client has gone.
    func readWholeHead() -> String? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let byte = read(1) else { return nil }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }

    func readBody(of head: String) {
        let length = head.lowercased().split(separator: "content-length: ").last
            .flatMap { Int($0.prefix { $0.isNumber }) }
        var rest = length ?? 0
        while rest > 0, let piece = read(min(rest, 1 << 16)) { rest -= piece.count }
    }

    /// The method and the target of a request whose head was read; `nil` where the client has gone.
    func readHead() -> (method: String, target: String)? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let byte = read(1) else { return nil }
            head += byte
        }
        let words = String(decoding: head, as: UTF8.self).split(separator: " ", maxSplits: 2)
        return words.count == 3 ? (String(words[0]), String(words[1])) : nil
    }

    func answer(_ status: String, _ body: String) {
        write(
            Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
    }
}
