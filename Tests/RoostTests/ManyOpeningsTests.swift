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
    private func count(_ count: Int, in path: String, from before: Int) async throws {
        let counts = try await Workspace.open(at: path).dictionary("counts")
        #expect(try counts["count", default: 0] == before)
        try await counts.set(count, forKey: "count")
    }

    @Test("The log of openings that are dropped stays small") func dropped() async throws {
        try await withTemporaryDirectory { path in
            for count in 1...60 { try await self.count(count, in: path, from: count - 1) }
            #expect(try segmentCount(in: path) < 40)
            let last = try await Workspace.open(at: path)
            #expect(try last.dictionary("counts")["count", as: Int.self] == 60)
            try await last.close()
        }
    }

    /// With a batch before them that nothing has synced, or a compacted store.
    @Test("Openings that only read and are dropped leave few segments", arguments: [false, true])
    func reading(isCompacted: Bool) async throws {
        try await withTemporaryDirectory { path in
            let first = try await Workspace.open(
                at: path, configuration: .init(durability: .process))
            try await first.dictionary("counts").set(7, forKey: "count")
            if isCompacted { try await first.compact() }
            try await first.close()
            try await count(8, in: path, from: 7)
            var most = 0
            for _ in 0..<60 {
                let counts = try await Workspace.open(at: path).dictionary("counts")
                #expect(try counts["count", as: Int.self] == 8)
                most = max(most, try segmentCount(in: path))
            }
            #expect(most < 24)
            try await count(9, in: path, from: 8)
            let last = try await Workspace.open(at: path)
            #expect(try last.dictionary("counts")["count", as: Int.self] == 9)
            let report = try await last.verify()
            #expect(report.isSound, "\(report.damages)")
            try await last.close()
        }
    }

    @Test("Openings of a store without anything leave few segments") func empty() async throws {
        try await withTemporaryDirectory { path in
            var most = 0
            for _ in 0..<60 {
                _ = try await Workspace.open(at: path)
                most = max(most, try segmentCount(in: path))
            }
            #expect(most < 24)
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
