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

    @Test func whatNobodyRefersToAnyMoreIsOpenedAgainAtOnce() async throws {
        try await withTemporaryDirectory { path in
            for count in 1...30 {
                let workspace =
                    count % 2 == 0 ? try Workspace(at: path) : try await Workspace.open(at: path)
                let counts = workspace.dictionary("counts")
                let before = try counts["count", default: 0]
                #expect(before == count - 1)
                try await counts.set(count, forKey: "count")
                if count % 3 == 0 { counts.enqueue(count, forKey: "enqueued") }
            }
            let last = try await Workspace.open(at: path)
            let enqueued = try last.dictionary("counts")["enqueued", default: 0]
            #expect(enqueued == 30)
            // What somebody refers to is refused as before, and at once.
            let begin = ContinuousClock.now
            #expect(await openFails(path, .readWrite) == .locked)
            #expect(ContinuousClock.now - begin < .seconds(2))
            try await last.close()
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
