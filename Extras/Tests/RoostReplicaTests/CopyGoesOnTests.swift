import Foundation
import Roost
import Testing

@testable import RoostReplica

/// How a copy goes on after a stop, and how it ends.
struct CopyGoesOnTests {
    private func contents(
        restoredFrom storage: any ObjectStorage, _ directory: String,
        at point: RestorePoint = .newest
    )
        async throws -> [String: String]
    {
        let path = "\(directory)/restored-\(UUID().uuidString)"
        try await Replica.restore(from: storage, to: path, at: point)
        let workspace = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        let found = try await RoostReplicaTests.contents(of: workspace, "d")
        try await workspace.close()
        return found
    }

    @Test func aWriterThatWasStartedWithNothingToCopyLearnsThatItIsOvertaken() async throws {
        let storage = MemoryStorage()
        let (first, second) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        try await first.dictionary("d").set("1", forKey: "n")
        var options = quick
        // One at each look.
        options.signOfLifeInterval = .milliseconds(1)
        try await Replica(of: first, to: storage, options: options).end()
        let older = try Replica(of: first, to: storage, options: options)
        try await older.waitUntilCopied()
        #expect(older.status.historyCount == 0)
        let known = try await JournalReader.end(of: storage)?.index ?? 0
        #expect(try await eventually { try await JournalReader.end(of: storage)!.index > known })
        // What was copied is all that there is, as each of them proves.
        let complete = try #require(older.status.lastCompleteAt)
        #expect(try await eventually { older.status.lastCompleteAt! > complete })
        let newer = try Replica(of: second, to: storage, options: options)
        try await newer.waitUntilCopied()
        let isFenced = try await eventually {
            guard case .failed(let failure) = older.status.state else { return false }
            return failure.code == .fenced
        }
        #expect(isFenced)
        try await newer.end()
        try await first.close()
        try await second.close()
    }

    /// What it was about to copy last is gone, and what is behind the base of the new history is not in it.
    @Test func aStopCopiesAllThoughLogWasLost() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            var options = quick
            options.maximumHeldLogBytes = 0
            options.interval = .seconds(3600)
            let replica = try Replica(of: workspace, to: storage, options: options)
            try await replica.waitUntilCopied()
            for number in 0..<200 { try await d.set("\(number)", forKey: "k\(number)") }
            try await workspace.compact()
            try await d.set("tail", forKey: "tail")
            try await replica.end()
            #expect(replica.status.historyCount == 2)
            #expect(replica.status.copiedSequence == workspace.statistics.lastSequence)
            let expected = try await RoostReplicaTests.contents(of: workspace, "d")
            try await workspace.close()
            #expect(try await contents(restoredFrom: storage, directory) == expected)
            #expect(expected.count == 201)
        }
    }

    /// It may come from a file of settings: nothing is held then, and what needs no hold is copied as ever.
    @Test func aNegativeNumberOfBytesOfHeldLogIsNone() async throws {
        let storage = MemoryStorage()
        let workspace = try await Workspace.inMemory()
        var options = quick
        options.maximumHeldLogBytes = -1
        let replica = try Replica(of: workspace, to: storage, options: options)
        for number in 0..<3 {
            try await workspace.dictionary("d").set("\(number)", forKey: "n")
            try await replica.waitUntilCopied()
        }
        #expect(replica.status.lostLogCount == 0 && replica.status.historyCount == 1)
        try await replica.end()
        try await workspace.close()
    }

    /// As after a restart that has set the clock back by five minutes.
    @Test func aBaseIsNotDatedBeforeWhatItHolds() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            var options = quick
            options.minimumBytesBetweenBases = 1
            let text = String(repeating: "x", count: 1_000)
            try await d.set("before", forKey: "n")
            try await Replica(of: workspace, to: storage, options: options).end()
            let end = try #require(try await JournalReader.end(of: storage))
            let ahead = end.standing.time + 300_000
            var journal = Journal(storage, writer: .random())
            try await journal.takeOver(behind: end, name: "ahead", time: ahead)

            let replica = try Replica(of: workspace, to: storage, options: options)
            var round = 0
            let hasBase = try await eventually {
                round += 1
                for number in 0..<100 { try await d.set("\(text) \(round)", forKey: "\(number)") }
                try await workspace.compact()
                try await replica.waitUntilCopied()
                let end = try #require(try await JournalReader.end(of: storage))
                let bases = try await BaseChain(from: end.standing.base, in: storage).bases
                return bases[0].record.flushedSequence > 1
            }
            #expect(hasBase)
            try await replica.end()
            #expect(replica.status.historyCount == 0)
            try await workspace.close()
            let last = try #require(try await JournalReader.end(of: storage))
            let base = try await BaseChain(from: last.standing.base, in: storage).bases[0]
            #expect(base.record.time >= ahead)
            let between = Date(timeIntervalSince1970: Double(ahead - 150_000) / 1000)
            #expect(
                try await contents(restoredFrom: storage, directory, at: .moment(between))
                    == ["n": "before"])
        }
    }

    /// A restore to a moment takes the newest base that is not younger, of whatever history.
    @Test func aHistoryIsNotDatedBeforeTheOneBeforeIt() async throws {
        let storage = MemoryStorage()
        let (first, second) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        try await first.dictionary("d").set("1", forKey: "n")
        try await Replica(of: first, to: storage, options: quick).end()
        let end = try #require(try await JournalReader.end(of: storage))
        let ahead = end.standing.time + 300_000
        var journal = Journal(storage, writer: .random())
        try await journal.takeOver(behind: end, name: "ahead", time: ahead)
        let replica = try Replica(of: second, to: storage, options: quick)
        try await second.dictionary("d").set("2", forKey: "n")
        try await replica.end()
        #expect(replica.status.historyCount == 1)
        let last = try #require(try await JournalReader.end(of: storage))
        let base = try await BaseChain(from: last.standing.base, in: storage).bases[0]
        #expect(base.record.history != end.standing.history)
        #expect(base.record.time >= ahead)
        try await first.close()
        try await second.close()
    }

    @Test func durationsOfACopyMayBeForEver() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let long = Duration.seconds(Int64.max)
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            let options = ReplicaOptions(
                interval: long, retention: long, signOfLifeInterval: long,
                minimumBytesBetweenBases: 1)
            let replica = try Replica(of: workspace, to: storage, options: options)
            let text = String(repeating: "x", count: 1_000)
            let hasBases = try await eventually {
                for number in 0..<100 { try await d.set(text, forKey: "\(number)") }
                try await workspace.compact()
                try await replica.waitUntilCopied()
                return replica.status.baseCount > 2
            }
            #expect(hasBases)
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: long)
            try await replica.stop(within: long)
            let next = try await follower.promote(options: options, within: long)
            try await next.stop(within: long)
            #expect(try follower.workspace.dictionary("d").count == 100)
            try await follower.close()
            try await workspace.close()
        }
    }

    /// Who stops a copy that the storage did not take is told how far it is, and what the storage said.
    @Test func aCopyThatIsAbandonedSaysWhatKeptIt() async throws {
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("d").set("1", forKey: "n")
        let storage = FaultyStorage(
            .init(isOff: true, error: RoostError(.io, "the share is away")))
        let replica = try Replica(of: workspace, to: storage, options: quick)
        #expect(try await eventually { replica.status.trouble != nil })
        let error = await #expect(throws: RoostError.self) {
            try await replica.stop(within: .milliseconds(50))
        }
        #expect(error?.code == .cancelled)
        #expect(error?.message.contains("up to batch 0, as io: the share is away") == true)
        try await workspace.close()
    }
}
