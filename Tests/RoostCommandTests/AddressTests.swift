import Foundation
import RoostTestSupport
import Testing

/// An address where a path is wanted is a mistake, and not the name of a directory.
@Suite struct AddressTests {
    @Test(arguments: [
        ["backup", "W", "s3://bucket/prefix"], ["backup", "W", "file:///mnt/x"],
        ["backup", "W", "s3://bucket/prefix", "--series"],
        ["backup", "W", "T", "--after", "s3://b/c"],
        ["copy", "W", "s3://b/c"], ["copy", "W", "postgress://user:secret@host/db"],
        ["copy", "postgress://user:secret@host/db", "T"],
        ["set", "etcd://user:secret@h:1", "s", "a", "1"],
        ["get", "Postgres://user:secret@h/db", "s", "a"],
        ["salvage", "W", "s3://q/w"], ["export", "W", "s3://b/x.jsonl"],
        ["import", "W", "https://user:secret@b/x.jsonl"], ["restore", "W", "s3://b/x"],
        ["restore", "gs://b/x", "T"], ["backups", "gs://b/x"], ["dump", "s3://b/x"],
        ["diff", "W", "etcd://h:1"],
    ])
    func anAddressIsNotTakenForAPath(_ arguments: [String]) async throws {
        try await withTemporaryDirectory { path in
            #expect(try await Tool.run("set", "\(path)/w", "s", "a", "1").status == 0)
            let process = try Tool.process(
                arguments.map { $0 == "W" ? "\(path)/w" : $0 == "T" ? "\(path)/t" : $0 })
            let errors = Pipe()
            process.standardError = errors
            process.currentDirectoryURL = URL(fileURLWithPath: path)
            try process.run()
            let said = String(
                decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 2, "\(said)")
            #expect(said.contains("stands where only a path is taken"), "\(said)")
            #expect(!said.contains("secret"), "\(said)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["w"])
        }
    }

    /// A host, or what stands behind a path, would be left out, and another directory read.
    @Test(arguments: [
        "file://data/copy", "file:///srv/a#1", "file:///srv/a?b", "file://", "file://localhost",
        "file://me@localhost/srv/a",
    ])
    func anAddressOfADirectoryIsAPathAlone(_ address: String) async throws {
        try await withTemporaryDirectory { path in
            for arguments in [["restore", address, "\(path)/t"], ["backups", address]] {
                let outcome = try await Tool.run(arguments)
                #expect(outcome.status == 2)
                #expect(
                    outcome.errors.contains("not an address as file:///path"), "\(outcome.errors)")
            }
            for address in ["file://\(path)/a%23", "file://localhost\(path)/a b"] {
                let outcome = try await Tool.run("backups", address)
                #expect(!outcome.errors.contains("not an address"), "\(outcome.errors)")
            }
        }
    }
}
