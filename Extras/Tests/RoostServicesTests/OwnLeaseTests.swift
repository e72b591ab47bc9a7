import Foundation
import Logging
import Roost
import RoostServices
import Synchronization
import Testing

/// Locks and leaderships of a workspace in files, which one process has at a time.
@Suite(.timeLimit(.minutes(5))) struct OwnLeaseTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func lock(_ workspace: Workspace, as holder: String) -> LeaseLock {
        LeaseLock(workspace, "x", as: holder, logger: silent)
    }

    /// A power cut takes what is not on disk, and whoever was told the number counts on it.
    @Test func aTermIsOnDiskBeforeAnybodyIsToldOfIt() async throws {
        let workspace = try await Workspace.inMemory(
            configuration: .init(durability: .interval(.seconds(3600))))
        let locks = workspace.dictionary("locks")
        for number in 1...3 {
            try await lock(workspace, as: "a").withLock { term in
                let entry = try locks.entry(forKey: "x.term", as: UInt64.self)
                #expect(entry.value == term.number && term.number == UInt64(number))
                #expect(workspace.statistics.durableSequence >= entry.version)
            }
        }
        // What others found out does not wait for the disk.
        try await lock(workspace, as: "a").withLock { _ in
            try await workspace.dictionary("d").set(1, forKey: "k")
            let error = await #expect(throws: RoostError.self) {
                try await lock(workspace, as: "b").withLock(waitingAtMost: .zero) { _ in }
            }
            #expect(error?.code == .locked)
            let figures = workspace.statistics
            #expect(figures.durableSequence < figures.lastSequence)
        }
        try await workspace.close()
    }
}
