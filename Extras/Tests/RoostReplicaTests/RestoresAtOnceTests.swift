import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// Restores to one path that do not wait for each other: one makes the workspace, and nobody changes what it makes.
@Suite(.timeLimit(.minutes(5))) struct RestoresAtOnceTests {
    private func copyOfAHundred(to storage: any ObjectStorage) async throws {
        let workspace = try await Workspace.inMemory()
        for number in 0..<100 {
            try await workspace.dictionary("values").set(number, forKey: "k\(number)")
        }
        // So that there is a snapshot to download.
        try await workspace.compact()
        let replica = try Replica(of: workspace, to: storage, options: quick)
        try await replica.waitUntilCopied()
        try await replica.end()
        try await workspace.close()
    }

    private func expectAHundred(at path: String) async throws {
        let restored = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        #expect(try restored.dictionary("values").count == 100)
        try await restored.close()
    }

    @Test func oneOfManyMakesTheWorkspaceAndTheOthersSayWhy() async throws {
        let storage = MemoryStorage()
        try await copyOfAHundred(to: storage)
        try await withDirectory { path in
            for round in 0..<20 {
                let target = "\(path)/r\(round)"
                let errors = await withTaskGroup(of: RoostError?.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            do {
                                try await Replica.restore(from: storage, to: target)
                                return nil
                            } catch { return asRoostError(error) }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let refusals = errors.compactMap(\.self)
                #expect(refusals.count == 5, "\(refusals)")
                for refusal in refusals {
                    #expect(
                        refusal.message.contains("another restore to this path goes on")
                            || refusal.message.contains("there is something here already"),
                        "\(refusal)")
                }
                try await expectAHundred(at: target)
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: path)
                    .allSatisfy { !$0.hasSuffix(".incomplete") })
        }
    }

    /// Between what the first opens and closes in its directory nobody else has that either.
    @Test func aRestoreThatWaitsForItsStorageKeepsItsPlace() async throws {
        let storage = MemoryStorage()
        try await copyOfAHundred(to: storage)
        let slow = SlowSnapshots(storage)
        try await withDirectory { path in
            let first = Task { try await Replica.restore(from: slow, to: "\(path)/r") }
            #expect(try await eventually { slow.isWaiting })
            let error = await #expect(throws: RoostError.self) {
                try await Replica.restore(from: storage, to: "\(path)/r")
            }
            #expect(error?.code == .locked)
            #expect(error?.message.contains("another restore to this path goes on") == true)
            slow.goOn()
            _ = try await first.value
            try await expectAHundred(at: "\(path)/r")
            // Nothing of how it was made is left.
            #expect(!FileManager.default.fileExists(atPath: "\(path)/r/MAKING"))
        }
    }
}

/// Downloads nothing before it is told to go on.
private final class SlowSnapshots: ForwardingStorage {
    let base: any ObjectStorage
    private let state = Mutex((isWaiting: false, goesOn: false))

    init(_ base: any ObjectStorage) { self.base = base }

    var isWaiting: Bool { state.withLock { $0.isWaiting } }
    func goOn() { state.withLock { $0.goesOn = true } }

    func download(
        _ name: String, to receive: ([UInt8]) async throws -> Void
    ) async throws -> Bool {
        try await wait()
        return try await base.download(name, to: receive)
    }

    private func wait() async throws {
        while !state.withLock({ $0.goesOn }) {
            state.withLock { $0.isWaiting = true }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
