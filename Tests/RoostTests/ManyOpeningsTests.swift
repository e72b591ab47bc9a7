import Foundation
import Roost
import RoostTestSupport
import Testing

/// Programs that end without closing, again and again. docs/decisions/0288.
@Suite("Many openings that end without a close") struct ManyOpeningsTests {
    private func segmentCount(in path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: path).count { $0.hasPrefix("log-") }
    }

    /// Leaves the workspace open, which nobody refers to afterwards.
    private func count(_ count: Int, in path: String) async throws {
        let counts = try await Workspace.open(at: path).dictionary("counts")
        #expect(try counts["count", default: 0] == count - 1)
        try await counts.set(count, forKey: "count")
    }

    @Test("The log of openings that are dropped stays small") func dropped() async throws {
        try await withTemporaryDirectory { path in
            for count in 1...60 { try await self.count(count, in: path) }
            #expect(try segmentCount(in: path) < 40)
            let last = try await Workspace.open(at: path)
            #expect(try last.dictionary("counts")["count", as: Int.self] == 60)
            try await last.close()
        }
    }

    @Test("The log of processes that end right after their write stays small") func ended()
        async throws
    {
        try await withTemporaryDirectory { path in
            for number in 1...70 {
                let child = try CrashWriter(path, first: number, mode: "once")
                #expect(child.waitForEnd() == 0)
                #expect(child.lines == ["ready", "\(number)"])
                #expect(try segmentCount(in: path) <= 33)
            }
            let last = try await Workspace.open(at: path)
            #expect(try last.dictionary("numbers")["last", as: Int.self] == 70)
            #expect(try last.dictionary("numbers").count == 1)
            try await last.close()
        }
    }
}
