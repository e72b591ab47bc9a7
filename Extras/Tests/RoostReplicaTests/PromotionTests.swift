import Foundation
import Roost
import Testing

@testable import RoostReplica

/// What a follower may not do when it takes its writer's place.
struct PromotionTests {
    /// The writer's newest base holds more in its snapshots than the follower has brought to its own.
    @Test func aPromotedFollowerWritesNoBaseThatLacksBatches() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let text = String(repeating: "x", count: 1_000)
            func fill(_ workspace: Workspace, _ count: Int, _ round: Int) async throws {
                let d = workspace.dictionary("d")
                for number in 0..<count { try await d.set("\(text) \(round)", forKey: "\(number)") }
            }
            func restored(_ name: String) async throws -> [String: String] {
                try await Replica.restore(from: storage, to: "\(directory)/\(name)")
                let workspace = try await Workspace.open(at: "\(directory)/\(name)")
                let found = try await contents(of: workspace, "d")
                try await workspace.close()
                return found
            }
            let writer = try await Workspace.open(at: "\(directory)/w")
            try await writer.dictionary("d").set("first", forKey: "first")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            let isFlushed = try await eventually {
                try await fill(writer, 100, 0)
                try await writer.compact()
                try await replica.waitUntilCopied()
                let end = try #require(try await JournalReader.end(of: storage))
                let bases = try await JournalReader.bases(from: end.standing.base, in: storage)
                return bases[0].record.flushedSequence > 1
            }
            #expect(isFlushed)
            try await replica.end()
            try await writer.close()
            let last = replica.status.copiedSequence
            #expect(try await eventually { follower.status.lastSequence >= last })

            let next = try await follower.promote(options: quick)
            for round in 1...20 {
                try await fill(follower.workspace, 20, round)
                try await next.waitUntilCopied()
            }
            #expect(try await restored("before") == contents(of: follower.workspace, "d"))
            try await follower.workspace.compact()
            let hasBase = try await eventually {
                try await fill(follower.workspace, 20, 21)
                try await next.waitUntilCopied()
                return next.status.baseCount > 0
            }
            #expect(hasBase)
            try await next.end()
            #expect(try await restored("after") == contents(of: follower.workspace, "d"))
            try await follower.workspace.close()
        }
    }
}
