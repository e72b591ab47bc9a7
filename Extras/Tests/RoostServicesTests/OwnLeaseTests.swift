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

    private func withPath(_ body: (String) async throws -> Void) async throws {
        let path =
            FileManager.default.temporaryDirectory.path + "/roost-services-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
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

    /// As after the death of its process; and a clock may be set back meanwhile.
    @Test func whatAnotherOpeningHeldIsFree() async throws {
        try await withPath { path in
            let time = SettableTime()
            let configuration = Workspace.Configuration(clock: .settable(time))
            let first = try await Workspace.open(at: path, configuration: configuration)
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            let (ended, ending) = AsyncStream.makeStream(of: Void.self)
            let holding = Task {
                try await lock(first, as: "first").withLock { _ in
                    beginning.yield()
                    for await _ in ended {}
                }
            }
            for await _ in begun { break }
            // It cannot be given back any more.
            try await first.close()
            ending.finish()
            _ = await holding.result
            time.advance(by: .seconds(-3600))

            let second = try await Workspace.open(at: path, configuration: configuration)
            #expect(try await lock(second, as: "second").holder() == nil)
            try await lock(second, as: "second").withLock(waitingAtMost: .zero) { term in
                #expect(term.number == 2)
                // Within an opening it is held as ever.
                let error = await #expect(throws: RoostError.self) {
                    try await lock(second, as: "third").withLock(waitingAtMost: .zero) { _ in }
                }
                #expect(error?.code == .locked)
                var readOnly = configuration
                readOnly.access = .readOnly
                try await second.synchronize()
                let reader = try await Workspace.open(at: path, configuration: readOnly)
                let holder = try await lock(reader, as: "reader").holder()
                #expect(holder?.candidate == "second" && holder?.term == 2)
                try await reader.close()
            }
            try await second.close()
        }
    }
}
