import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct LockTests {
    private func openFails(_ path: String, _ access: Workspace.Configuration.Access) async
        -> RoostError.Code?
    {
        do {
            _ = try await Workspace.open(at: path, configuration: .init(access: access))
            return nil
        } catch { return (error as? RoostError)?.code }
    }

    @Test func aSecondOpeningForWritingInThisProcessIsLocked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            #expect(await openFails(path, .readWrite) == .locked)
            #expect(await openFails(path, .readOnly) == nil)
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            try await again.close()
        }
    }

    @Test func aSecondOpeningInAnotherProcessIsLocked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let child = try CrashWriter(path, mode: "open")
            #expect(child.waitForEnd() == 2)
            #expect(child.lines == ["error locked"])
            try await workspace.close()
            let second = try CrashWriter(path, mode: "open")
            #expect(second.waitForEnd() == 0)
        }
    }

    @Test func theLockGoesWithAKilledOwner() async throws {
        try await withTemporaryDirectory { path in
            let child = try CrashWriter(path, mode: "hold")
            #expect(child.read(lineCount: 1))
            #expect(await openFails(path, .readWrite) == .locked)
            child.kill()
            let workspace = try await Workspace.open(at: path)
            try await workspace.close()
        }
    }
}
