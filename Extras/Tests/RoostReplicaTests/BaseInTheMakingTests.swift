import Foundation
import Roost
import Synchronization
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

    @Test func whoStopsDoesNotWaitForAFirstBaseThatCannotBeSent() async throws {
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("d").set("1", forKey: "n")
        let replica = try Replica(of: workspace, to: EntriesAlone(), options: quick)
        #expect(try await eventually { replica.status.isWritingBase })
        let failure = Mutex<RoostError?>(nil)
        Task {
            do { try await replica.stop(within: .milliseconds(200)) } catch {
                failure.withLock { $0 = asRoostError(error) }
            }
        }
        #expect(try await eventually { failure.withLock { $0?.code } == .cancelled })
        #expect(replica.status.copiedSequence == 0)
    }

    /// Else parts of it would stay in the storage, as the process ends next.
    @Test func whoStopsWaitsUntilWhatWasSentOfABaseIsRemoved() async throws {
        let storage = HalfTaken()
        try await withSecondBase(in: storage) { replica in
            async let stopping: Void = {
                try await replica.end()
                storage.state.withLock { $0.isStopped = true }
            }()
            #expect(try await eventually { storage.state.withLock { $0.isCancelled } })
            try await Task.sleep(for: .milliseconds(100))
            #expect(storage.state.withLock { !$0.isStopped })
            storage.state.withLock { $0.isRemoved = true }
            try await stopping
        }
    }

    @Test func whoStopsWaitsNoLongerThanHeSaidForWhatIsRemoved() async throws {
        let storage = HalfTaken()
        try await withSecondBase(in: storage) { replica in
            // All was copied: what is left of a base is no failure.
            try await replica.stop(within: .milliseconds(300))
            #expect(try await eventually { storage.state.withLock { $0.isCancelled } })
            #expect(storage.state.withLock { !$0.isRemoved })
            storage.state.withLock { $0.isRemoved = true }
        }
    }

    /// Runs `body` while the second base of a copy is being sent.
    private func withSecondBase(
        in storage: HalfTaken, _ body: (Replica) async throws -> Void
    ) async throws {
        let workspace = try await Workspace.inMemory()
        let d = workspace.dictionary("d")
        let replica = try Replica(of: workspace, to: storage, options: quick)
        try await replica.waitUntilCopied()
        storage.state.withLock { $0.holds = true }
        for number in 0..<4_000 { try await d.set("\(number)", forKey: "k\(number % 50)") }
        try await workspace.compact()
        #expect(try await eventually { storage.state.withLock { $0.isHeld } })
        try await replica.waitUntilCopied()
        try await body(replica)
        try await workspace.close()
    }
}

/// A storage that, once it holds, sends no base to its end, and removes what was sent of it when it is told to.
private final class HalfTaken: ForwardingStorage {
    struct State {
        var holds = false
        var isHeld = false
        var isCancelled = false
        var isRemoved = false
        var isStopped = false
    }

    let state = Mutex(State())
    let base: any ObjectStorage = MemoryStorage()

    func put(_ name: String, _ content: ObjectContent) async throws {
        guard state.withLock({ $0.holds }) else { return try await base.put(name, content) }
        state.withLock { $0.isHeld = true }
        do { try await Task.sleep(for: .seconds(3600)) } catch {
            state.withLock { $0.isCancelled = true }
            await Task {
                while !state.withLock({ $0.isRemoved }) {
                    do { try await Task.sleep(for: .milliseconds(5)) } catch {}
                }
            }.value
            throw error
        }
    }
}

/// A storage that takes entries of the journal, and no base.
private final class EntriesAlone: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()

    func put(_ name: String, _ content: ObjectContent) async throws {
        throw RoostError(.io, "no base is taken", file: name)
    }
}
