import Foundation
import Roost
import RoostTestSupport
import Testing

/// A workspace's directory holds files alone: with a directory in it, it would open no more.
@Suite struct DirectoryInsideTests {
    @Test func nothingThatMakesADirectoryMakesItInsideAWorkspace() async throws {
        try await withTemporaryDirectory { path in
            for (name, number) in [("w", 1), ("other", 2)] {
                let workspace = try await Workspace.open(at: "\(path)/\(name)")
                try await workspace.dictionary("d").set(number, forKey: "k")
                try await workspace.close()
            }
            let other = try await Workspace.open(at: "\(path)/other")
            for inside in ["\(path)/w/in", "\(path)/w/in/", "\(path)/w/deep/er"] {
                await expectRefusal { _ = try await Workspace.open(at: inside) }
                await expectRefusal { try await other.backup(to: inside) }
                await expectRefusal { try await other.backup(toSeries: inside) }
            }
            // Nor are a workspace's files taken for a series of backups.
            await expectRefusal { try await other.backup(toSeries: "\(path)/w") }
            try await other.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(path)/w")
            #expect(names.allSatisfy { !["in", "deep", "incomplete"].contains($0) })
            let workspace = try await Workspace.open(at: "\(path)/w")
            #expect(try workspace.dictionary("d")["k", as: Int.self] == 1)
            try await workspace.close()
        }
    }

    @Test func aManifestOfAnotherProgramMakesNoWorkspaceOfItsDirectory() async throws {
        try await withTemporaryDirectory { path in
            try Data("README\n".utf8).write(to: URL(fileURLWithPath: "\(path)/MANIFEST"))
            let workspace = try await Workspace.open(at: "\(path)/data")
            try await workspace.close()
        }
    }

    @Test func aDirectoryWithoutAWorkspaceIsNotTakenForOneWithSomethingInIt() async throws {
        try await withTemporaryDirectory { path in
            try FileManager.default.createDirectory(
                atPath: "\(path)/d/rc2.d", withIntermediateDirectories: true)
            for access in [Workspace.Configuration.Access.readOnly, .readWrite] {
                let error = await #expect(throws: RoostError.self) {
                    _ = try await Workspace.open(
                        at: "\(path)/d", configuration: .init(access: access))
                }
                #expect(error?.code == .io)
                #expect(error?.message.hasPrefix("there is no workspace here") == true)
            }
        }
    }

    private func expectRefusal(_ body: () async throws -> Void) async {
        let error = await #expect(throws: RoostError.self) { try await body() }
        #expect(error?.code == .io)
        #expect(
            error?.message.contains("inside a workspace") == true, "\(String(describing: error))")
    }
}
