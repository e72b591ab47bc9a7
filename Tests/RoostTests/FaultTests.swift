import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

/// Lets the calls to the file system fail one by one, beneath a whole workspace.
@Suite struct FaultTests {
    private let configuration = Workspace.Configuration(
        shardCount: 2, durability: .process, memoryBudgetBytes: 1 << 16)

    /// Writes and compacts in several rounds; returns what was acknowledged.
    private func run(_ workspace: Workspace, _ plan: FaultPlan, _ expected: inout [String: Int?])
        async
    {
        let values = workspace.dictionary("values")
        for round in 0..<3 {
            for key in 0..<12 {
                do {
                    if (key + round) % 5 == 0 {
                        try await values.removeValue(forKey: "\(key)")
                        expected["\(key)"] = .some(nil)
                    } else {
                        try await values.set(round * 100 + key, forKey: "\(key)")
                        expected["\(key)"] = round * 100 + key
                    }
                } catch { #expect(error is RoostError) }
            }
            do { try await workspace.compact() } catch { #expect(error is RoostError) }
        }
    }

    private func check(_ workspace: Workspace, _ expected: [String: Int?], _ comment: Comment)
        throws
    {
        for (key, value) in expected {
            let found = try workspace.dictionary("values")[key, as: Int.self]
            #expect(found == value, comment)
        }
    }

    /// One call fails, as a full disk's or a bad block's does, and the process goes on.
    @Test func afterOneFailedCallEverythingIsThere() async throws {
        for failing in stride(from: 4, to: 400, by: 5) {
            let isDone = try await withTemporaryDirectory { path in
                let plan = FaultPlan(failAt: failing, isCrash: false)
                guard
                    let workspace = try? await Workspace.open(
                        at: path, configuration: configuration, fileSystem: plan.fileSystem())
                else { return false }
                var expected: [String: Int?] = [:]
                await run(workspace, plan, &expected)
                let isDone = plan.callCount <= failing
                plan.stopFailing()
                let comment = Comment(rawValue: "call \(failing) failed")
                try check(workspace, expected, comment)
                let report = try? await workspace.verify()
                #expect(report?.isSound ?? true, "\(comment): \(report?.damages ?? [])")
                do { try await workspace.close() } catch { #expect(error is RoostError) }
                let again = try await Workspace.open(at: path, configuration: configuration)
                try check(again, expected, comment)
                let after = try await again.verify()
                #expect(after.isSound, "\(comment): \(after.damages)")
                try await again.close()
                return isDone
            }
            if isDone { return }
        }
        Issue.record("there are more calls than were tried")
    }

    /// From one call on everything fails, as if the process had been killed there.
    @Test func stoppedAtAnyCallTheWorkspaceOpensAgain() async throws {
        for failing in stride(from: 4, to: 400, by: 7) {
            let isDone = try await withTemporaryDirectory { path in
                let plan = FaultPlan(failAt: failing)
                guard
                    let workspace = try? await Workspace.open(
                        at: path, configuration: configuration, fileSystem: plan.fileSystem())
                else { return false }
                var expected: [String: Int?] = [:]
                await run(workspace, plan, &expected)
                do { try await workspace.close() } catch { #expect(error is RoostError) }
                let again = try await Workspace.open(at: path, configuration: configuration)
                try check(again, expected, "stopped at call \(failing)")
                let report = try await again.verify()
                #expect(report.isSound, "stopped at call \(failing): \(report.damages)")
                try await again.close()
                return plan.callCount <= failing
            }
            if isDone { return }
        }
        Issue.record("there are more calls than were tried")
    }
}
