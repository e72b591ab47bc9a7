import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct OpeningWithoutSuspendingTests {
    /// As an app's model has it: opened in its initializer.
    @MainActor private final class Model {
        let workspace: Workspace
        init(_ path: String) throws { workspace = try Workspace(at: path) }
    }

    @Test func itIsThePlaceThatOpenOpens() async throws {
        try await withTemporaryDirectory { path in
            let first = try await Workspace.open(at: path)
            try await first.dictionary("d").set(1, forKey: "a", durability: .synced)
            try await first.close()
            let second = try Self.openAtOnce(URL(fileURLWithPath: path))
            #expect(second.path == path && !second.recovery.isNew)
            #expect(try second.dictionary("d")["a", as: Int.self] == 1)
            try await second.dictionary("d").set(2, forKey: "a")
            try await second.compact()
            try await second.close()
            let third = try Self.openAtOnce(FilePath(path))
            #expect(try third.dictionary("d")["a", as: Int.self] == 2)
            try await third.close()
        }
    }

    /// In a function that cannot suspend, so that no overload that does can be meant.
    private static func openAtOnce(_ url: URL) throws -> Workspace { try Workspace(at: url) }
    private static func openAtOnce(_ path: FilePath) throws -> Workspace { try Workspace(at: path) }

    @Test @MainActor func theMainActorOpensInAnInitializer() async throws {
        try await withTemporaryDirectory { path in
            let model = try Model("\(path)/w")
            #expect(model.workspace.recovery.isNew)
            try await model.workspace.dictionary("d").set("x", forKey: "k")
            let code = Self.code { try Workspace(at: "\(path)/w") }
            #expect(code == .locked, "one opening at a time, however it was made")
            try await model.workspace.close()
            let readOnly = try Workspace(at: "\(path)/w", configuration: .init(access: .readOnly))
            #expect(try readOnly.dictionary("d")["k", as: String.self] == "x")
            try await readOnly.close()
        }
    }

    @Test func itFailsAsOpenDoes() async throws {
        try await withTemporaryDirectory { path in
            let missing = "\(path)/none"
            #expect(
                Self.code { try Workspace(at: missing, configuration: .init(access: .readOnly)) }
                    == .io)
            #expect(!FileManager.default.fileExists(atPath: missing))
            #expect(Self.code { try Workspace(at: URL(string: "https://example.com")!) } == .io)
            let damaged = try await Workspace.open(at: path)
            try await damaged.dictionary("d").set("value", forKey: "k")
            try await damaged.compact()
            try await damaged.close()
            try FileManager.default.removeItem(atPath: "\(path)/MANIFEST")
            #expect(Self.code { try Workspace(at: path) } == .corrupt)
        }
    }

    @Test func aLogThatWasLeftOpenIsReplayed() async throws {
        try await withTemporaryDirectory { path in
            let copy = "\(path)/copy"
            let workspace = try await Workspace.open(at: "\(path)/w")
            let values = workspace.dictionary("d")
            for number in 0..<100 { try await values.set(number, forKey: "\(number)") }
            // As a kill would leave it.
            try FileManager.default.copyItem(atPath: "\(path)/w", toPath: copy)
            try await workspace.close()
            let opened = try Workspace(at: copy)
            #expect(opened.recovery.replayedBatchCount == 100)
            #expect(try opened.dictionary("d").count == 100)
            try await opened.close()
        }
    }

    private static func code(_ open: () throws -> Workspace) -> RoostError.Code? {
        do { _ = try open() } catch { return (error as? RoostError)?.code }
        return nil
    }
}
