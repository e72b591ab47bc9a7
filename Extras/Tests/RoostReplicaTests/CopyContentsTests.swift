import Foundation
import Roost
import Testing

@testable import RoostReplica

/// What a copy says that it can be restored to is what it can be restored to.
@Suite(.timeLimit(.minutes(10))) struct CopyContentsTests {
    @Test func everyStretchCanBeRestoredFromItsFirstBatchToItsLast() async throws {
        try await withBases { directory, storage, expected in
            let contents = try await Replica.contents(of: storage)
            #expect(contents.stretches.count >= 3 && contents.problem == nil)
            for stretch in contents.stretches {
                let last = try #require(stretch.lastSequence)
                let lastDate = try #require(stretch.lastDate)
                #expect(stretch.firstSequence <= last && stretch.firstDate <= lastDate)
                #expect(stretch.newBytes <= stretch.sizeBytes && stretch.problem == nil)
                for sequence in [stretch.firstSequence, last] {
                    let (report, _) = try await restored(
                        storage, directory, at: .sequence(sequence))
                    #expect(report.lastSequence == sequence)
                }
                let (report, _) = try await restored(storage, directory, at: .moment(lastDate))
                // A base is dated by when it was begun: what was committed within the same millisecond is of that moment too.
                let isLast = last == contents.lastSequence
                #expect(report.lastSequence >= last && !report.isBeyondCopy)
                #expect(!isLast || report.lastSequence == last)
            }
            for (stretch, next) in zip(contents.stretches, contents.stretches.dropFirst()) {
                #expect(stretch.lastDate == next.firstDate && stretch.history == next.history)
                #expect(stretch.lastSequence == next.firstSequence)
            }
            #expect(contents.stretches.first?.newBytes == contents.stretches.first?.sizeBytes)
            #expect(contents.stretches.last?.lastSequence == contents.lastSequence)
            let (newest, found) = try await restored(storage, directory)
            #expect(newest.lastSequence == contents.lastSequence && found == expected)
        }
    }

    /// Of the first, whose writer was dropped, all that was copied; of the second, which ended before its base, nothing.
    @Test func eachHistoryEndsWithItsOwnLastBatch() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            var ends: [UInt64] = []
            for name in ["a", "b", "c"] {
                storage.faults.withLock {
                    $0.refusedPrefix = name == "b" ? ObjectName.bases : nil
                }
                let workspace = try await Workspace.open(at: "\(directory)/\(name)")
                let replica = try Replica(of: workspace, to: storage, options: quick)
                for number in 0..<5 {
                    try await workspace.dictionary("d").set("\(number)", forKey: name)
                }
                if name == "b" {
                    let before = try await JournalReader.end(of: storage)?.standing.history
                    #expect(
                        try await eventually {
                            let standing = try await JournalReader.end(of: storage)?.standing
                            return standing?.history != before
                        })
                    await replica.abandon()
                } else {
                    try await replica.waitUntilCopied()
                    ends.append(workspace.statistics.lastSequence)
                    try await replica.end()
                }
                try await workspace.close()
            }
            let contents = try await Replica.contents(of: storage)
            #expect(contents.stretches.map(\.lastSequence) == ends)
            #expect(Set(contents.stretches.map(\.history)).count == 2)
            for stretch in contents.stretches {
                let (_, found) = try await restored(
                    storage, directory, at: .moment(try #require(stretch.lastDate)))
                let name = stretch.history == contents.stretches[0].history ? "a" : "c"
                #expect(Array(found.keys) == [name])
            }
        }
    }

    @Test func aDamagedBaseIsNamedAndHidesNoOther() async throws {
        try await withBases { _, storage, _ in
            let sound = try await Replica.contents(of: storage).stretches
            let end = try #require(try await JournalReader.end(of: storage))
            let base = try await BaseChain(from: end.standing.base, in: storage).bases[1]
            var bytes = try #require(try await storage.get(base.name, maximumSizeBytes: .max))
            bytes[bytes.count / 2] ^= 1
            try await storage.put(base.name, ObjectContent(bytes))
            let stretches = try await Replica.contents(of: storage).stretches
            #expect(stretches.count == sound.count)
            for (place, stretch) in stretches.enumerated() {
                let isDamaged = place == sound.count - 2
                #expect(stretch.problem?.file == (isDamaged ? base.name : nil))
                #expect(stretch.sizeBytes == (isDamaged ? 0 : sound[place].sizeBytes))
            }
        }
    }

    @Test func whereThereIsNoCopyOrAnothersKeyThatIsSaid() async throws {
        let storage = MemoryStorage()
        let missing = await #expect(throws: RoostError.self) {
            _ = try await Replica.contents(of: storage)
        }
        #expect(missing?.code == .io)
        try await withDirectory { directory in
            let key = try #require(newEncryption(true))
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(
                of: workspace, to: storage, encryption: key, options: quick)
            try await workspace.dictionary("d").set("1", forKey: "n")
            try await replica.waitUntilCopied()
            try await replica.end()
            try await workspace.close()
        }
        for encryption in [nil, newEncryption(true)] {
            let error = await #expect(throws: RoostError.self) {
                _ = try await Replica.contents(of: storage, encryption: encryption)
            }
            #expect(error?.code == .wrongKey)
        }
    }
}
