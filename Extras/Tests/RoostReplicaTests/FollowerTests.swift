import Foundation
import Roost
import RoostEncryption
import Synchronization
import Testing

@testable import RoostReplica

struct FollowerTests {
    @Test(arguments: [false, true])
    func aFollowerHasWhatItsWriterHasAndTakesItsPlace(isSealed: Bool) async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let (encryption, own) = (newEncryption(isSealed), newEncryption(isSealed))
            let writer = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(encryption: encryption))
            let d = writer.dictionary("d")
            for number in 0..<100 { try await d.set("\(number)", forKey: "k\(number)") }
            let replica = try Replica(
                of: writer, to: storage, encryption: encryption, options: quick)
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, encryption: encryption, at: "\(directory)/f",
                configuration: .init(encryption: own), interval: .milliseconds(10))
            #expect(follower.workspace.isEncrypted == isSealed)
            let followed = follower.workspace.dictionary("d")
            #expect(try followed.count == 100)
            var updates = followed.updates(of: "k1", as: String.self).makeAsyncIterator()
            #expect(await updates.next() == "1")
            try await d.set("new", forKey: "k1")
            try await d.removeValue(forKey: "k2")
            #expect(await updates.next() == "new")
            let last = writer.statistics.lastSequence
            #expect(try await eventually { follower.status.lastSequence >= last })
            #expect(try followed.count == 99)
            #expect(follower.status.lag! < .seconds(60))
            await #expect(throws: RoostError.self) { try await followed.set("x", forKey: "x") }

            // The writer is thought dead, and is not.
            let next = try await follower.promote(options: quick)
            try await followed.set("mine", forKey: "x")
            try await next.waitUntilCopied()
            #expect(next.status.historyCount == 0)
            try await d.set("too late", forKey: "y")
            await #expect(throws: RoostError.self) { try await replica.waitUntilCopied() }
            try await next.end()
            try await follower.workspace.close()
            try await writer.close()
            try await Replica.restore(
                from: storage, encryption: encryption, to: "\(directory)/r")
            let restored = try await Workspace.open(
                at: "\(directory)/r", configuration: .init(encryption: encryption))
            let found = try await contents(of: restored, "d")
            #expect(found.count == 100 && found["x"] == "mine" && found["y"] == nil)
            try await restored.close()
        }
    }

    @Test(arguments: [false, true])
    func aFollowerThatWasClosedGoesOnWhereItWas(isSealed: Bool) async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let encryption = newEncryption(isSealed)
            let writer = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(encryption: encryption))
            let replica = try Replica(
                of: writer, to: storage, encryption: encryption, options: quick)
            for round in 0..<3 {
                for number in 0..<20 {
                    try await writer.dictionary("d").set("\(round)", forKey: "\(round) \(number)")
                    if number % 5 == 0 { try await replica.waitUntilCopied() }
                }
                try await replica.waitUntilCopied()
                let follower = try await Follower.follow(
                    storage, encryption: encryption, at: "\(directory)/f",
                    configuration: .init(encryption: encryption), interval: .milliseconds(10))
                let last = writer.statistics.lastSequence
                #expect(try await eventually { follower.status.lastSequence >= last })
                #expect(try follower.workspace.dictionary("d").count == 20 * (round + 1))
                try await follower.close()
            }
            try await replica.end()
            try await writer.close()
        }
    }

    @Test func aPromotionThatFailsFollowsOn() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.faults.withLock { $0.isOff = true }
            let error = await #expect(throws: RoostError.self) {
                _ = try await follower.promote(options: quick, within: .milliseconds(200))
            }
            #expect(error?.code == .io)
            storage.faults.withLock { $0.isOff = false }
            try await writer.dictionary("d").set("2", forKey: "n")
            try await replica.waitUntilCopied()
            let last = writer.statistics.lastSequence
            #expect(try await eventually { follower.status.lastSequence >= last })
            let followed = follower.workspace.dictionary("d")
            #expect(try followed.value(forKey: "n", as: String.self) == "2")
            await #expect(throws: RoostError.self) { try await followed.set("x", forKey: "x") }
            let next = try await follower.promote(options: quick)
            try await followed.set("x", forKey: "x")
            try await next.end()
            try await follower.workspace.close()
            try await writer.close()
        }
    }

    /// Whatever the storage throws meanwhile.
    @Test func aFollowerGoesOnOnceTheStorageAnswersAgain() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage.memory, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.faults.withLock { $0.isOff = true }
            #expect(try await eventually { follower.status.trouble?.code == .io })
            try await writer.dictionary("d").set("2", forKey: "n")
            try await replica.waitUntilCopied()
            storage.faults.withLock { $0.isOff = false }
            let last = writer.statistics.lastSequence
            #expect(try await eventually { follower.status.lastSequence >= last })
            #expect(try await eventually { follower.status.trouble == nil })
            try await replica.end()
            try await follower.close()
            try await writer.close()
        }
    }

    /// As one does that ends its own calls after some time.
    @Test func aCallThatNobodyCancelledEndsNothing() async throws {
        try await withDirectory { directory in
            let storage = GivingUp()
            let writer = try await Workspace.inMemory()
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.givesUp.store(true, ordering: .relaxed)
            try await writer.dictionary("d").set("2", forKey: "n")
            #expect(try await eventually { replica.status.trouble?.code == .io })
            #expect(try await eventually { follower.status.trouble?.code == .io })
            storage.givesUp.store(false, ordering: .relaxed)
            try await replica.waitUntilCopied()
            let last = writer.statistics.lastSequence
            #expect(try await eventually { follower.status.lastSequence >= last })
            try await follower.close()
            try await replica.end()
            try await writer.close()
        }
    }

    /// As its workspace throws where the disk is full.
    @Test func aFollowerGoesOnOnceItsDiskHasRoomAgain() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage(.init(error: RoostError(.outOfSpace, "the disk is full")))
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage.memory, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.faults.withLock { $0.isOff = true }
            try await writer.dictionary("d").set("2", forKey: "n")
            try await replica.waitUntilCopied()
            #expect(
                try await eventually {
                    follower.status.trouble?.code == .outOfSpace || follower.status.failure != nil
                })
            #expect(follower.status.failure == nil)
            let error = await #expect(throws: RoostError.self) {
                _ = try await follower.promote(options: quick, within: .milliseconds(200))
            }
            #expect(error?.code == .outOfSpace)
            storage.faults.withLock { $0.isOff = false }
            let last = writer.statistics.lastSequence
            #expect(try await eventually { follower.status.lastSequence >= last })
            #expect(try await eventually { follower.status.trouble == nil })
            #expect(follower.status.failure == nil)
            // Nobody was overtaken.
            try await writer.dictionary("d").set("3", forKey: "n")
            try await replica.end()
            try await follower.close()
            try await writer.close()
        }
    }

    /// What is written into it would stand between the batches of the copy.
    @Test func aDirectoryThatFollowsIsNotOpenedForWriting() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.waitUntilCopied()
            let path = "\(directory)/f"
            var follower = try await Follower.follow(storage, at: path)
            try await follower.close()
            let error = await #expect(throws: RoostError.self) {
                try await Workspace.open(at: path)
            }
            #expect(error?.code == .readOnly)
            let reader = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            #expect(try await contents(of: reader, "d") == ["n": "1"])
            try await reader.close()
            follower = try await Follower.follow(storage, at: path)
            let next = try await follower.promote(options: quick)
            try await next.end()
            try await follower.workspace.close()
            let alone = try await Workspace.open(at: path)
            try await alone.dictionary("d").set("2", forKey: "n")
            try await alone.close()
            try await writer.close()
        }
    }

    /// A promotion looks for its directory again, and its process may have changed where paths begin.
    @Test func aFollowersPathBeginsAtTheRoot() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.end()
            try await writer.close()
            let place = URL(fileURLWithPath: "\(directory)/f").standardizedFileURL.path
            let current = FileManager.default.currentDirectoryPath
            let upwards = current.split(separator: "/").map { _ in "../" }.joined()
            let follower = try await Follower.follow(storage, at: upwards + place.dropFirst())
            #expect(follower.workspace.path == place)
            let next = try await follower.promote(options: quick)
            try await next.end()
            try await follower.workspace.close()
        }
    }

    /// What is copied is written there.
    @Test func nothingFollowsInADirectoryThatIsOpenForReadingAlone() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.end()
            try await writer.close()
            let error = await #expect(throws: RoostError.self) {
                _ = try await Follower.follow(
                    storage, at: "\(directory)/f", configuration: .init(access: .readOnly))
            }
            #expect(error?.code == .readOnly)
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/f"))
        }
    }

    @Test func anotherHistoryIsNotMixedIn() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let (first, second) = (
                try await Workspace.open(at: "\(directory)/a"),
                try await Workspace.open(at: "\(directory)/b")
            )
            try await first.dictionary("d").set("1", forKey: "a")
            let older = try Replica(of: first, to: storage, options: quick)
            try await older.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            try await second.dictionary("d").set("2", forKey: "b")
            let newer = try Replica(of: second, to: storage, options: quick)
            try await newer.waitUntilCopied()
            #expect(try await eventually { follower.status.failure?.code == .conflict })
            #expect(try await contents(of: follower.workspace, "d") == ["a": "1"])
            try await follower.close()
            await #expect(throws: RoostError.self) {
                try await Follower.follow(storage, at: "\(directory)/f")
            }
            try await newer.end()
            try await first.close()
            try await second.close()
        }
    }
}

/// A storage in memory whose calls say that they were cancelled while it gives up.
private final class GivingUp: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()
    let givesUp = Atomic(false)

    private func check() throws {
        if givesUp.load(ordering: .relaxed) { throw CancellationError() }
    }

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        try check()
        return try await base.putIfAbsent(name, bytes)
    }

    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        try check()
        return try await base.list(prefix: prefix, after: name)
    }
}
