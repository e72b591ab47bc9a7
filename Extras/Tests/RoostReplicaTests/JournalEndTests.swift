import Foundation
import Roost
import RoostEncryption
import Testing

@testable import RoostReplica

/// The end of a copy's journal where a put was broken off, or the last entry is damaged.
@Suite(.timeLimit(.minutes(10))) struct JournalEndTests {
    private let storage = MemoryStorage()

    /// Copies `count` batches, each in an entry of its own; the sequence number of each.
    private func copy(
        _ count: Int, from workspace: Workspace, _ encryption: WorkspaceEncryption?
    ) async throws -> [UInt64] {
        let d = workspace.dictionary("d")
        let replica = try Replica(
            of: workspace, to: storage, encryption: encryption, options: quick)
        var sequences: [UInt64] = []
        for number in 0..<count {
            try await d.set("\(number)", forKey: "n")
            try await replica.waitUntilCopied()
            sequences.append(try d.entry(forKey: "n", as: String.self).version)
        }
        try await replica.end()
        return sequences
    }

    private func lastName() async throws -> String {
        try #require(try await storage.listAll(prefix: ObjectName.journal).last).name
    }

    /// What a storage leaves that takes a put for whole whose connection breaks between head and body.
    @Test(arguments: [false, true]) func anEmptyObjectIsPassedOver(isSealed: Bool) async throws {
        try await withDirectory { directory in
            let encryption = newEncryption(isSealed)
            let workspace = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(encryption: encryption))
            for round in 0..<3 {
                _ = try await copy(4, from: workspace, encryption)
                let last = try #require(ObjectName.index(ofEntry: try await lastName()))
                for index in (last + 1)...(last + 1 + UInt64(round)) {
                    #expect(try await storage.putIfAbsent(ObjectName.entry(index), []))
                }
                #expect(
                    try await restored(storage, directory, encryption).1 == ["n": "3"])
                let contents = try await Replica.contents(of: storage, encryption: encryption)
                #expect(contents.problem == nil && contents.stretches.last?.lastSequence != nil)
            }
            _ = try await copy(7, from: workspace, encryption)
            try await workspace.close()
            #expect(try await restored(storage, directory, encryption).1 == ["n": "6"])
            let follower = try await Follower.follow(
                storage, encryption: encryption, at: "\(directory)/f",
                configuration: .init(encryption: encryption))
            #expect(try follower.workspace.dictionary("d")["n", as: String.self] == "6")
            try await follower.close()
        }
    }

    /// The writer whose put has left it asks for its place again, however long it slept. What it adds there would be told
    /// to be copied, though another one has taken over behind it.
    @Test func anEmptyObjectKeepsItsPlace() async throws {
        var older = Journal(storage, writer: .random())
        try await older.takeOver(behind: nil, name: "older", time: 1)
        let place = older.state.next
        #expect(try await storage.putIfAbsent(ObjectName.entry(place), []))
        let end = try await JournalReader.end(of: storage)
        var newer = Journal(storage, writer: .random())
        try await newer.takeOver(behind: end, name: "newer", time: 2)
        let takeover = try #require(newer.state.standing).takeover
        #expect(takeover == place + 1)
        try await Removal(
            storage: storage, payload: RemovalPayload(entriesBefore: newer.state.next),
            newestTakeover: takeover
        ).run()
        do {
            let payload = FramesPayload(marks: [], runs: []).encoded()
            try await older.add(.frames, payload: payload, time: 3)
            Issue.record("the older writer goes on")
        } catch let error as RoostError { #expect(error.code == .fenced) }
    }

    private func restored(
        _ storage: MemoryStorage, _ directory: String, _ encryption: WorkspaceEncryption?,
        at point: RestorePoint = .newest
    ) async throws -> (RestoreReport, [String: String]) {
        try await RoostReplicaTests.restored(storage, directory, at: point, encryption)
    }

    enum Harm: CaseIterable, Sendable { case flipped, cut }

    @Test(arguments: Harm.allCases, [false, true])
    func whatIsBeforeADamagedLastEntryCanBeRestored(harm: Harm, isSealed: Bool) async throws {
        try await withDirectory { directory in
            let encryption = newEncryption(isSealed)
            let workspace = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(encryption: encryption))
            let sequences = try await copy(6, from: workspace, encryption)
            let name = try await lastName()
            let whole = try #require(try await storage.get(name, maximumSizeBytes: .max))
            var bytes = whole
            switch harm {
            case .flipped: bytes[bytes.count / 2] ^= 1
            case .cut: bytes.removeLast(bytes.count / 2)
            }
            try await storage.put(name, ObjectContent(bytes))
            let error = await #expect(throws: RoostError.self) {
                try await restored(storage, directory, encryption)
            }
            #expect(error?.code == .corrupt && error?.file == name)
            let contents = try await Replica.contents(of: storage, encryption: encryption)
            #expect(contents.problem?.file == name)
            #expect("\(try #require(error))".contains("\(contents.lastSequence)"))
            // The last entry may say nothing but that the writer lived.
            for (number, sequence) in sequences.enumerated()
            where sequence <= contents.lastSequence {
                let found = try await restored(
                    storage, directory, encryption, at: .sequence(sequence))
                #expect(found.1 == ["n": "\(number)"])
            }
            #expect(contents.lastSequence >= sequences[4])
            // Nothing is known of later ones.
            let later = await #expect(throws: RoostError.self) {
                try await restored(
                    storage, directory, encryption, at: .sequence(sequences[5] + 1))
            }
            #expect(later?.code == .corrupt)
            let moment = await #expect(throws: RoostError.self) {
                try await restored(
                    storage, directory, encryption, at: .moment(Date() + 3600))
            }
            #expect(moment?.code == .corrupt)
            // Nobody goes on behind it before it was looked at; then the copy does.
            let replica = try Replica(
                of: workspace, to: storage, encryption: encryption, options: quick)
            let refused = await #expect(throws: RoostError.self) {
                try await replica.waitUntilCopied()
            }
            #expect(refused?.code == .corrupt)
            #expect(refused?.message.contains("object is removed") == true)
            await #expect(throws: (any Error).self) { try await replica.end() }
            try await storage.delete(name)
            _ = try await copy(2, from: workspace, encryption)
            try await workspace.close()
            #expect(try await restored(storage, directory, encryption).1 == ["n": "1"])
        }
    }
}
