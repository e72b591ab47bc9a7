import Foundation
import Roost
import Testing

@testable import RoostReplica

/// What holds while a base is being written, and where its writer dies meanwhile.
struct BaseInTheMakingTests {
    /// The base is named by the place of the next entry, which does not stand yet.
    @Test func aBaseThatTheJournalDoesNotKnowHidesNoCopy() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            try await workspace.dictionary("d").set("1", forKey: "n")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            try await replica.end()
            try await workspace.close()
            let end = try #require(try await JournalReader.end(of: storage))
            // One that was lost as it was written may say any place.
            for index in [end.index + 1, end.index + 1_000] {
                let name = ObjectName.base(index, .random())
                try await storage.put(name, ObjectContent([]))
                #expect(try await JournalReader.end(of: storage)?.digest == end.digest)
            }
            try await Replica.restore(from: storage, to: "\(directory)/r")
            let restored = try await Workspace.open(at: "\(directory)/r")
            #expect(try await contents(of: restored, "d") == ["n": "1"])
            try await restored.close()
        }
    }
}
