import Roost
import Testing

@testable import RoostReplica

/// Lists of servers that do not begin them behind the name that they are asked for.
@Suite(.timeLimit(.minutes(5))) struct S3ListTests {
    /// Such as RustFS begins with the name itself, and others at the first of all: who lists from there on would list
    /// for ever, or take what it has for what is new.
    @Test(arguments: ["b", "a"]) func aListBeginsBehindTheName(first: String) async throws {
        let names = ["a", "b", "c", "d"].filter { $0 >= first }
        let server = try StubServer { connection in
            while connection.readWholeHead() != nil {
                connection.answer("200 OK", Self.page(of: names, isAll: true))
            }
        }
        defer { server.stop() }
        let found = try await Self.storage(of: server).list(prefix: "", after: "b")
        #expect(found.map(\.name) == ["c", "d"])
        let none = try await Self.storage(of: server).list(prefix: "", after: "d")
        #expect(none.isEmpty)
    }

    /// One page may have nothing that is asked for, and the next one has.
    @Test func aListGoesOnWhereAPageHasNothingNew() async throws {
        let server = try StubServer { connection in
            while let head = connection.readWholeHead() {
                let isSecond = head.contains("continuation-token=t")
                connection.answer(
                    "200 OK",
                    isSecond
                        ? Self.page(of: ["c"], isAll: true)
                        : Self.page(of: ["a", "b"], isAll: false, token: "t"))
            }
        }
        defer { server.stop() }
        let found = try await Self.storage(of: server).list(prefix: "", after: "b")
        #expect(found.map(\.name) == ["c"])
    }

    /// What it has not listed must not be taken for nothing.
    @Test(arguments: ["t", nil]) func aListThatDoesNotGoOnIsNone(token: String?) async throws {
        let server = try StubServer { connection in
            while connection.readWholeHead() != nil {
                connection.answer("200 OK", Self.page(of: ["a", "b"], isAll: false, token: token))
            }
        }
        defer { server.stop() }
        let storage = Self.storage(of: server)
        let error = await #expect(throws: RoostError.self) {
            try await storage.list(prefix: "", after: "b")
        }
        #expect(error?.code == .io)
        #expect(error?.message.contains("start-after") == true)
    }

    private static func storage(of server: StubServer) -> S3Storage {
        S3Storage(.init(bucket: "b", prefix: "p", endpoint: "http://127.0.0.1:\(server.port)")) {
            S3Credentials(accessKeyID: "a", secretAccessKey: "s")
        }
    }

    private static func page(of names: [String], isAll: Bool, token: String? = nil) -> String {
        let objects = names.map { "<Contents><Key>p/\($0)</Key><Size>1</Size></Contents>" }
        let next = token.map { "<NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
        return
            "<ListBucketResult><IsTruncated>\(!isAll)</IsTruncated>\(next)\(objects.joined())</ListBucketResult>"
    }
}
