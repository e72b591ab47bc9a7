import Foundation
import Roost
import RoostEncryption
import Testing

@testable import RoostReplica

struct ReplicaTests {
    @Test func whatWasCommittedIsRestoredFromTheCopyAlone() async throws {
        try await withDirectory { directory in
            let storage = DirectoryStorage(path: "\(directory)/copies")
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            for number in 0..<500 { try await d.set("before \(number)", forKey: "k\(number)") }
            try await workspace.compact()
            let replica = try Replica(of: workspace, to: storage, options: quick)
            for number in 400..<900 { try await d.set("after \(number)", forKey: "k\(number)") }
            try await d.removeValue(forKey: "k1")
            try await workspace.write { batch in
                batch.set("both", forKey: "x", in: d)
                batch.set("both", forKey: "y", in: d)
            }
            try await replica.waitUntilCopied()
            let expected = try await contents(of: workspace, "d")
            let last = workspace.statistics.lastSequence
            // As if the machine were gone.
            await replica.abandon()
            try await workspace.close()
            try FileManager.default.removeItem(atPath: "\(directory)/w")
            let (report, found) = try await restored(storage, directory)
            #expect(found == expected && found.count == 901)
            #expect(report.lastSequence == last && report.verification.isSound)
        }
    }

    @Test func dictionariesThatWereClearedAndValuesThatExpireAreRestored() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            try await d.set("gone", forKey: "a")
            try await workspace.compact()
            try await d.removeAll()
            try await d.set("lives", forKey: "b", expiresIn: .seconds(3600))
            try await d.set("dies", forKey: "c", expiresIn: .milliseconds(1))
            try await replica.end()
            try await workspace.close()
            #expect(try await restored(storage, directory).1 == ["b": "lives"])
        }
    }

    @Test(arguments: [false, true])
    func everySequenceNumberAndEveryMomentBetweenCanBeRestored(isSealed: Bool) async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let encryption = newEncryption(isSealed)
            let workspace = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(encryption: encryption))
            let d = workspace.dictionary("d")
            let replica = try Replica(
                of: workspace, to: storage, encryption: encryption, options: quick)
            try await replica.waitUntilCopied()
            var times: [(sequence: UInt64, time: Date)] = []
            for number in 1...60 {
                try await d.set("\(number)", forKey: "n")
                times.append((workspace.statistics.lastSequence, Date()))
                if number % 3 == 0 { try await Task.sleep(for: .milliseconds(7)) }
                if number == 30 { try await workspace.compact() }
            }
            try await replica.end()
            try await workspace.close()
            for number in [1, 2, 29, 30, 31, 59, 60] {
                let (report, found) = try await restored(
                    storage, directory, at: .sequence(UInt64(number)), encryption)
                #expect(found == ["n": "\(number)"] && report.lastSequence == UInt64(number))
            }
            var numbers = SeededNumbers(seed: testSeed)
            let (begin, end) = (times[0].time, times.last!.time.addingTimeInterval(0.1))
            for _ in 0..<12 {
                let moment = Date(
                    timeIntervalSince1970: .random(
                        in: begin.timeIntervalSince1970...end.timeIntervalSince1970,
                        using: &numbers))
                let (report, found) = try await restored(
                    storage, directory, at: .moment(moment), encryption)
                let sequence = report.lastSequence
                #expect(found == (sequence == 0 ? [:] : ["n": "\(sequence)"]), "seed \(testSeed)")
                // Nothing that came after, by a clock of whole milliseconds.
                let after = times.first { $0.time > moment.addingTimeInterval(0.002) }
                if let after { #expect(sequence < after.sequence, "seed \(testSeed)") }
            }
            await #expect(throws: RoostError.self) {
                try await restored(storage, directory, at: .sequence(1_000), encryption)
            }
            await #expect(throws: RoostError.self) {
                try await restored(
                    storage, directory, at: .moment(Date(timeIntervalSince1970: 1)), encryption)
            }
        }
    }

    @Test func whatIsNotWrittenToTakesNobodysPlace() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            try await d.set("1", forKey: "n")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            try await replica.waitUntilCopied()
            let reader = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(access: .readOnly))
            let follower = try await Follower.follow(storage, at: "\(directory)/f")
            for other in [reader, follower.workspace] {
                let error = #expect(throws: RoostError.self) {
                    _ = try Replica(of: other, to: storage, options: quick)
                }
                #expect(error?.code == .readOnly)
            }
            // Who copies there goes on.
            try await d.set("2", forKey: "n")
            try await replica.waitUntilCopied()
            try await follower.close()
            try await reader.close()
            try await replica.end()
            try await workspace.close()
        }
    }

    @Test func aWorkspaceThatIsOpenedAgainGoesOnWithItsHistory() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            for round in 0..<4 {
                let workspace = try await Workspace.open(at: "\(directory)/w")
                let replica = try Replica(of: workspace, to: storage, options: quick)
                try await workspace.dictionary("d").set("\(round)", forKey: "round \(round)")
                // One in two dies with batches that are not copied.
                if round % 2 == 0 { try await replica.end() } else { await replica.abandon() }
                #expect(replica.status.historyCount == (round == 0 ? 1 : 0), "round \(round)")
                try await workspace.close()
            }
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            try await replica.end()
            #expect(replica.status.historyCount == 0 && replica.status.baseCount == 0)
            try await workspace.close()
            #expect(try await restored(storage, directory).1.count == 4)
        }
    }

    @Test func anOlderStateOfTheSameWorkspaceBeginsAnotherHistory() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let path = "\(directory)/w"
            var workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("d").set("1", forKey: "n")
            try await workspace.close()
            try FileManager.default.copyItem(atPath: path, toPath: "\(directory)/old")
            workspace = try await Workspace.open(at: path)
            var replica = try Replica(of: workspace, to: storage, options: quick)
            for number in 2...9 {
                try await workspace.dictionary("d").set("\(number)", forKey: "n")
            }
            try await replica.end()
            try await workspace.close()
            // Somebody puts the old files back, and writes other batches under the same numbers.
            workspace = try await Workspace.open(at: "\(directory)/old")
            for number in 2...20 {
                try await workspace.dictionary("d").set("other \(number)", forKey: "n")
            }
            replica = try Replica(of: workspace, to: storage, options: quick)
            try await replica.end()
            #expect(replica.status.historyCount == 1)
            try await workspace.close()
            #expect(try await restored(storage, directory).1 == ["n": "other 20"])
        }
    }

    @Test func ofTwoWritersTheOlderLearnsThatItIsOvertaken() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let first = try await Workspace.open(at: "\(directory)/a")
            let second = try await Workspace.open(at: "\(directory)/b")
            let older = try Replica(of: first, to: storage, options: quick)
            try await first.dictionary("d").set("first", forKey: "a")
            try await older.waitUntilCopied()
            let newer = try Replica(of: second, to: storage, options: quick)
            try await second.dictionary("d").set("second", forKey: "b")
            try await newer.waitUntilCopied()
            try await first.dictionary("d").set("too late", forKey: "c")
            do {
                try await older.waitUntilCopied()
                Issue.record("what the older writer wrote counts as copied")
            } catch let error as RoostError {
                #expect(error.code == .fenced)
            }
            guard case .failed(let failure) = older.status.state else {
                Issue.record("the older copies on")
                return
            }
            #expect(failure.code == .fenced)
            await #expect(throws: RoostError.self) { try await older.end() }
            // It still takes writes; only the copying has ended.
            try await first.dictionary("d").set("here", forKey: "d")
            try await newer.end()
            #expect(try await restored(storage, directory).1 == ["b": "second"])
            try await first.close()
            try await second.close()
        }
    }

    @Test func anIdleWriterLearnsByItsSignsOfLife() async throws {
        let storage = MemoryStorage()
        let (first, second) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        var options = quick
        options.signOfLifeInterval = .milliseconds(20)
        let older = try Replica(of: first, to: storage, options: options)
        try await older.waitUntilCopied()
        let newer = try Replica(of: second, to: storage, options: options)
        try await newer.waitUntilCopied()
        let isFenced = try await eventually {
            if case .failed(let failure) = older.status.state {
                failure.code == .fenced
            } else {
                false
            }
        }
        #expect(isFenced)
        try await newer.end()
    }

    /// A removal that the journal has, and that is made late, takes nothing that a base of a later writer names.
    @Test func whoTakesOverRefersToNothingThatIsBeingRemoved() async throws {
        try await withDirectory { directory in
            let storage = LateDeletions()
            let path = "\(directory)/w"
            let text = String(repeating: "x", count: 1_000)
            func fill(_ workspace: Workspace, _ round: Int) async throws {
                let d = workspace.dictionary("d")
                for number in 0..<100 { try await d.set("\(text) \(round)", forKey: "k\(number)") }
                try await workspace.compact()
            }
            var workspace = try await Workspace.open(at: path)
            try await fill(workspace, 0)
            try await workspace.close()
            try FileManager.default.copyItem(atPath: path, toPath: "\(directory)/old")
            workspace = try await Workspace.open(at: path)
            var options = quick
            options.retention = .zero
            options.minimumBytesBetweenBases = 1
            let first = try Replica(of: workspace, to: storage, options: options)
            try await first.waitUntilCopied()
            var round = 0
            let isRemoving = try await eventually {
                round += 1
                try await fill(workspace, round)
                try await first.waitUntilCopied()
                return storage.heldNames.contains { $0.hasPrefix(ObjectName.snapshots) }
            }
            #expect(isRemoving)
            await first.abandon()
            try await workspace.close()
            // The snapshot of the state of then is what is being removed.
            workspace = try await Workspace.open(at: "\(directory)/old")
            let second = try Replica(of: workspace, to: storage, options: options)
            try await second.waitUntilCopied()
            await second.abandon()
            let expected = try await contents(of: workspace, "d")
            try await workspace.close()
            try await storage.release()
            #expect(try await restored(storage.memory, directory).1 == expected)
        }
    }

    @Test func basesFollowTheLogAndRetentionRemovesTheRest() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            var options = quick
            options.retention = .zero
            let replica = try Replica(of: workspace, to: storage, options: options)
            try await replica.waitUntilCopied()
            let text = String(repeating: "x", count: 1_000)
            for round in 0..<20 {
                for number in 0..<100 {
                    try await d.set("\(text) \(round)", forKey: "k\(number)")
                }
                try await workspace.compact()
                try await replica.waitUntilCopied()
            }
            #expect(
                try await eventually {
                    replica.status.baseCount > 2 && !replica.status.isWritingBase
                })
            let status = replica.status
            #expect(status.logBytesCopied > 2_000_000)
            try await replica.end()
            // Two bases, and the log between two of them; not the two megabytes that were copied.
            #expect(storage.sizeBytes < 1_000_000, "\(storage.sizeBytes) bytes are stored")
            let sent = status.journalBytesSent + status.baseBytesSent
            #expect(Double(sent) < 1.3 * Double(status.logBytesCopied), "\(sent) bytes were sent")
            let expected = try await contents(of: workspace, "d")
            try await workspace.close()
            #expect(try await restored(storage, directory).1 == expected)
        }
    }
}
