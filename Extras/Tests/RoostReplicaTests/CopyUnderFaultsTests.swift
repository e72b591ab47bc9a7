import Foundation
import Roost
import RoostEncryption
import Testing

@testable import RoostReplica

/// A storage that is gone, fails, is late, or has damaged what it keeps.
struct CopyUnderFaultsTests {
    @Test func writersDoNotWaitForAStorageThatIsGone() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage(.init(isOff: true))
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            for number in 0..<2_000 { try await d.set("\(number)", forKey: "k\(number % 50)") }
            try await workspace.compact()
            #expect(try await eventually { replica.status.trouble != nil })
            #expect(replica.status.copiedSequence == 0)
            storage.faults.withLock { $0.isOff = false }
            try await replica.waitUntilCopied()
            #expect(replica.status.trouble == nil)
            // The log after the first base was held through a flush while nothing could be copied.
            storage.faults.withLock { $0.isOff = true }
            for number in 0..<2_000 {
                try await d.set("again \(number)", forKey: "k\(number % 50)")
            }
            try await workspace.compact()
            storage.faults.withLock { $0.isOff = false }
            try await replica.end()
            #expect(replica.status.historyCount == 1)
            let expected = try await contents(of: workspace, "d")
            try await workspace.close()
            #expect(try await restored(storage.memory, directory).1 == expected)
        }
    }

    /// As after a restart while the network is gone.
    @Test func theLogWaitsForAStorageThatIsGoneWhenAWriterBegins() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            var workspace = try await Workspace.open(at: "\(directory)/w")
            var replica = try Replica(of: workspace, to: storage, options: quick)
            try await workspace.dictionary("d").set("0", forKey: "n")
            try await replica.end()
            try await workspace.close()
            storage.faults.withLock { $0.isOff = true }
            workspace = try await Workspace.open(at: "\(directory)/w")
            replica = try Replica(of: workspace, to: storage, options: quick)
            #expect(try await eventually { replica.status.trouble != nil })
            let d = workspace.dictionary("d")
            var sequences: [UInt64] = []
            for number in 1...20 {
                try await d.set("\(number)", forKey: "n")
                sequences.append(try d.entry(forKey: "n", as: String.self).version)
                if number % 5 == 0 { try await workspace.compact() }
            }
            storage.faults.withLock { $0.isOff = false }
            try await replica.waitUntilCopied()
            #expect(replica.status.historyCount == 0 && replica.status.lostLogCount == 0)
            try await replica.end()
            try await workspace.close()
            for number in [1, 7, 20] {
                let point = RestorePoint.sequence(sequences[number - 1])
                #expect(
                    try await restored(storage.memory, directory, at: point).1
                        == ["n": "\(number)"])
            }
        }
    }

    @Test func whatIsHeldForTheCopyIsBounded() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            var options = quick
            options.maximumHeldLogBytes = 0
            let replica = try Replica(of: workspace, to: storage, options: options)
            try await replica.waitUntilCopied()
            storage.faults.withLock { $0.isOff = true }
            // One entry is on its way, and what comes after it is held by nobody.
            try await d.set("first", forKey: "first")
            #expect(try await eventually { storage.faults.withLock { $0.refusedEntryCount } > 0 })
            for number in 0..<200 { try await d.set("\(number)", forKey: "k\(number)") }
            try await workspace.compact()
            storage.faults.withLock { $0.isOff = false }
            try await replica.waitUntilCopied()
            #expect(replica.status.historyCount == 2 && replica.status.lostLogCount == 1)
            try await replica.end()
            try await workspace.close()
            #expect(try await restored(storage.memory, directory).1.count == 201)
        }
    }

    /// A loss is told as one also by a replica that went on with its history, as after every restart.
    @Test func logThatASecondReplicaLosesIsCounted() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            var options = quick
            options.maximumHeldLogBytes = 0
            let first = try Replica(of: workspace, to: storage, options: options)
            try await d.set("1", forKey: "n")
            try await first.end()
            #expect(first.status.historyCount == 1 && first.status.lostLogCount == 0)
            let second = try Replica(of: workspace, to: storage, options: options)
            // What is copied shows that it has begun, and asks the storage for nothing else.
            try await d.set("2", forKey: "n")
            try await second.waitUntilCopied()
            #expect(second.status.historyCount == 0 && second.status.lostLogCount == 0)
            storage.faults.withLock { $0.isOff = true }
            try await d.set("first", forKey: "first")
            #expect(try await eventually { storage.faults.withLock { $0.refusedEntryCount } > 0 })
            for number in 0..<200 { try await d.set("\(number)", forKey: "k\(number)") }
            try await workspace.compact()
            storage.faults.withLock { $0.isOff = false }
            try await second.waitUntilCopied()
            #expect(second.status.historyCount == 1 && second.status.lostLogCount == 1)
            try await second.end()
            try await workspace.close()
            #expect(try await restored(storage.memory, directory).1.count == 202)
        }
    }

    /// Log that was given up is gone for the moments too: no older state is given for them.
    @Test func momentsOfLogThatWasLostAreRefused() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            var options = quick
            options.maximumHeldLogBytes = 0
            let replica = try Replica(of: workspace, to: storage, options: options)
            try await replica.waitUntilCopied()
            try await d.set("known", forKey: "n")
            try await replica.waitUntilCopied()
            try await Task.sleep(for: .milliseconds(20))
            let known = Date()
            try await Task.sleep(for: .milliseconds(20))
            storage.faults.withLock { $0.isOff = true }
            try await d.set("on its way", forKey: "n")
            #expect(try await eventually { storage.faults.withLock { $0.refusedEntryCount } > 0 })
            for number in 0..<200 { try await d.set("\(number)", forKey: "n") }
            try await workspace.compact()
            let lost = Date()
            try await Task.sleep(for: .milliseconds(20))
            storage.faults.withLock { $0.isOff = false }
            try await replica.waitUntilCopied()
            #expect(replica.status.historyCount == 2)
            try await replica.end()
            try await workspace.close()
            let memory = storage.memory
            let error = await #expect(throws: RoostError.self) {
                try await restored(memory, directory, at: .moment(lost))
            }
            #expect(error?.code == .io && error?.message.contains("was lost to it") == true)
            let before = try await restored(memory, directory, at: .moment(known))
            #expect(before.1 == ["n": "known"] && !before.0.isBeyondCopy)
            // After the end it is the newest state, which is said.
            let after = try await restored(memory, directory, at: .moment(Date() + 3600))
            #expect(after.1 == ["n": "199"] && after.0.isBeyondCopy)
            #expect(try await !restored(memory, directory).0.isBeyondCopy)
        }
    }

    /// What the writer before may have committed then was not copied, and nobody knows.
    @Test func momentsBetweenTwoHistoriesAreBeyondTheFirst() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            var moments: [Date] = []
            for name in ["first", "second"] {
                let workspace = try await Workspace.open(at: "\(directory)/\(name)")
                let replica = try Replica(of: workspace, to: storage, options: quick)
                try await replica.waitUntilCopied()
                try await workspace.dictionary("d").set(name, forKey: "n")
                try await replica.waitUntilCopied()
                try await Task.sleep(for: .milliseconds(20))
                moments.append(Date())
                try await Task.sleep(for: .milliseconds(20))
                // So that the moment before is one of which the copy knows.
                try await workspace.dictionary("d").set("\(name) again", forKey: "n")
                try await replica.waitUntilCopied()
                await replica.abandon()
                try await workspace.close()
                try await Task.sleep(for: .milliseconds(20))
                moments.append(Date())
                try await Task.sleep(for: .milliseconds(20))
            }
            let expected = [("first", false), ("first again", true), ("second", false)]
            for (moment, (text, isBeyond)) in zip(moments, expected) {
                let (report, found) = try await restored(storage, directory, at: .moment(moment))
                #expect(found == ["n": text])
                #expect(report.isBeyondCopy == isBeyond, "\(text)")
            }
        }
    }

    /// The later one has batches in the journal, which nobody can restore without a base.
    @Test func theLastStateOfAnEarlierHistoryIsNotCalledTheNewest() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let first = try await Workspace.inMemory()
            try await first.dictionary("d").set("first", forKey: "n")
            try await Replica(of: first, to: storage, options: quick).end()
            try await first.close()
            storage.faults.withLock { $0.refusedPrefix = ObjectName.bases }
            let second = try await Workspace.inMemory()
            let replica = try Replica(of: second, to: storage, options: quick)
            try await second.dictionary("d").set("second", forKey: "n")
            #expect(
                try await eventually {
                    replica.status.historyCount == 1 && replica.status.logBytesCopied > 0
                })
            await replica.abandon()
            let earlier = try await restored(storage, directory)
            #expect(earlier.1 == ["n": "first"] && earlier.0.isBeyondCopy)
            // Nor is it followed, in a directory that the later one could not be followed in.
            let path = "\(directory)/f"
            let error = await #expect(throws: RoostError.self) {
                _ = try await Follower.follow(storage, at: path)
            }
            #expect(error?.code == .io)
            for name in [path, path + ".incomplete"] {
                #expect(!FileManager.default.fileExists(atPath: name))
            }

            storage.faults.withLock { $0.refusedPrefix = nil }
            let next = try Replica(of: second, to: storage, options: quick)
            try await next.waitUntilCopied()
            let newest = try await restored(storage, directory)
            #expect(newest.1 == ["n": "second"] && !newest.0.isBeyondCopy)
            let follower = try await Follower.follow(storage, at: path)
            #expect(try await contents(of: follower.workspace, "d") == ["n": "second"])
            try await follower.close()
            try await next.end()
            try await second.close()
        }
    }

    @Test(arguments: [false, true])
    func everyByteOfTheCopyThatIsDamagedIsFound(isSealed: Bool) async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let encryption = newEncryption(isSealed)
            let workspace = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(encryption: encryption))
            for number in 0..<50 {
                try await workspace.dictionary("d").set("\(number)", forKey: "k\(number)")
            }
            try await workspace.compact()
            let replica = try Replica(
                of: workspace, to: storage, encryption: encryption, options: quick)
            try await workspace.dictionary("d").set("last", forKey: "last")
            try await replica.end()
            let expected = try await contents(of: workspace, "d")
            try await workspace.close()
            var numbers = SeededNumbers(seed: testSeed)
            for object in try await storage.listAll(prefix: "") {
                let bytes = try await storage.get(object.name, maximumSizeBytes: .max)!
                for _ in 0..<3 {
                    var damaged = bytes
                    damaged[Int.random(in: 0..<bytes.count, using: &numbers)] ^=
                        1 << UInt8.random(in: 0..<8, using: &numbers)
                    try await storage.put(object.name, ObjectContent(damaged))
                    do {
                        // Entries before the base are not read, and may be damaged.
                        #expect(
                            try await restored(storage, directory, at: .newest, encryption).1
                                == expected, "seed \(testSeed)"
                        )
                    } catch let error as RoostError {
                        #expect(
                            error.code == .corrupt || error.code == .unsupportedVersion, "\(error)")
                    }
                }
                try await storage.put(object.name, ObjectContent(bytes))
            }
        }
    }

    /// Real workspaces, whose processes end in the middle, and a storage that fails, is late, and lies
    /// about it.
    @Test(arguments: [false, true])
    func overAStorageThatFailsNothingAcknowledgedIsLost(isSealed: Bool) async throws {
        try await withDirectory { directory in
            for schedule in 0..<12 as Range<UInt64> {
                let seed = testSeed &+ schedule
                let storage = FaultyStorage(.init(oneIn: 8, delay: .milliseconds(4)), seed: seed)
                var numbers = SeededNumbers(seed: seed)
                let encryption = newEncryption(isSealed)
                var copied = 0
                var written = 0
                let path = "\(directory)/w\(schedule)"
                for _ in 0..<4 {
                    let workspace = try await Workspace.open(
                        at: path, configuration: .init(encryption: encryption))
                    let replica = try Replica(
                        of: workspace, to: storage, encryption: encryption, options: quick)
                    for _ in 0..<Int.random(in: 1..<6, using: &numbers) {
                        for _ in 0..<Int.random(in: 1..<40, using: &numbers) {
                            written += 1
                            try await workspace.dictionary("d").set("\(written)", forKey: "n")
                        }
                        if numbers.isOne(in: 3) { try await workspace.compact() }
                        if numbers.isOne(in: 2) {
                            try await replica.waitUntilCopied()
                            copied = written
                        }
                    }
                    await replica.abandon()
                    try await workspace.close()
                }
                // What is late comes in.
                try await Task.sleep(for: .milliseconds(60))
                guard copied > 0 else { continue }
                let found = try await restored(
                    storage.memory, directory, at: .newest, encryption
                ).1
                let last = Int(found["n"] ?? "") ?? 0
                #expect(last >= copied && last <= written, "seed \(seed)")
            }
        }
    }
}
