import Foundation
import Roost
import Testing

@testable import RoostReplica

struct ShortSessionTests {
    /// As of a process that is started each hour, and ends once it has copied what it wrote.
    @Test func whatIsStoredIsBoundedThoughEachSessionCopiesLittle() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            var options = quick
            options.retention = .zero
            let text = String(repeating: "x", count: 1_000)
            var expected: [String: String] = [:]
            for round in 0..<16 {
                let workspace = try await Workspace.open(at: "\(directory)/w")
                let d = workspace.dictionary("d")
                let replica = try Replica(of: workspace, to: storage, options: options)
                for number in 0..<40 { try await d.set("\(text) \(round)", forKey: "k\(number)") }
                try await workspace.compact()
                for number in 0..<12 {
                    try await d.set("\(number)", forKey: "n")
                    try await replica.waitUntilCopied()
                }
                #expect(try await eventually { !replica.status.isWritingBase })
                try await replica.end()
                #expect(replica.status.historyCount == (round == 0 ? 1 : 0))
                expected = try await contents(of: workspace, "d")
                try await workspace.close()
            }
            let journal = try await storage.listAll(prefix: ObjectName.journal)
            let sizeBytes = journal.reduce(0) { $0 + $1.sizeBytes }
            #expect(sizeBytes < 300_000, "the journal has \(sizeBytes) bytes")
            try await Replica.restore(from: storage, to: "\(directory)/r")
            let restored = try await Workspace.open(at: "\(directory)/r")
            #expect(try await contents(of: restored, "d") == expected)
            try await restored.close()
        }
    }
}
