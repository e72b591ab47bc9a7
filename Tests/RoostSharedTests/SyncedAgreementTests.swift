import Roost
import RoostShared
import RoostTestSupport
import Testing

/// What a device and the store find in each other that neither has from the other.
@Suite(.timeLimit(.minutes(5))) struct SyncedAgreementTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: Int
        var text: String
    }

    private enum Cart {
        struct Item: Codable, Identifiable, Sendable { var id: Int }
    }

    private enum Order {
        struct Item: Codable, Identifiable, Sendable { var id: Int }
    }

    private let engine = MemoryEngine()

    private func device(
        _ local: Workspace, rule: @escaping SyncedRepository<Note>.Rule = { _, _ in .mine }
    ) async throws -> SyncedRepository<Note> {
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        return SyncedRepository(of: Note.self, named: "notes", in: local, with: shared, rule: rule)
    }

    /// An app's own objects, from before it exchanged them.
    @Test func whatWasHereBeforeTheFirstExchangeIsSent() async throws {
        let local = try await Workspace.inMemory()
        let other = try await Workspace.inMemory()
        let own = local.repository(of: Note.self, named: "notes")
        try await own.saveAll([Note(id: 1, text: "one"), Note(id: 2, text: "mine")])
        let others = try await device(other)
        try await others.save(Note(id: 2, text: "theirs"))
        try await others.synchronize()
        let notes = try await device(local)
        try await notes.save(Note(id: 3, text: "three"))
        let report = try await notes.synchronize()
        #expect(report.sentCount == 3)
        #expect(report.resolutions.map(\.theirs) == [Note(id: 2, text: "theirs")])
        try await others.synchronize()
        let all = [
            Note(id: 1, text: "one"), Note(id: 2, text: "mine"), Note(id: 3, text: "three"),
        ]
        #expect(try await others.loadAll() == all)
        #expect(try await notes.loadAll() == all)
        #expect(try await notes.synchronize().sentCount == 0)
        for workspace in [local, other] { try await workspace.close() }
    }

    /// As where each device begins with the same objects, or both remove one.
    @Test func whatIsEqualOnBothSidesIsNoConflict() async throws {
        let local = try await Workspace.inMemory()
        let other = try await Workspace.inMemory()
        let rule: SyncedRepository<Note>.Rule = { mine, theirs in
            Issue.record("asked about \(String(describing: mine)), \(String(describing: theirs))")
            return .mine
        }
        let devices = [try await device(local, rule: rule), try await device(other, rule: rule)]
        for notes in devices {
            try await notes.save(Note(id: 1, text: "inbox"))
            try await notes.save(Note(id: 2, text: "trash"))
        }
        for _ in 0..<2 {
            for notes in devices {
                #expect(try await notes.synchronize().resolutions.isEmpty)
            }
        }
        for notes in devices {
            try await notes.delete(1)
            try await notes.update(2) { (note: inout Note) in note.text = "bin" }
        }
        for notes in devices { #expect(try await notes.synchronize().resolutions.isEmpty) }
        for notes in devices {
            #expect(try notes.waitingCount == 0)
            #expect(try await notes.loadAll() == [Note(id: 2, text: "bin")])
        }
        // A later change of either is based on what both agreed on.
        try await devices[1].update(2) { (note: inout Note) in note.text = "later" }
        for notes in devices.reversed() {
            #expect(try await notes.synchronize().resolutions.isEmpty)
        }
        #expect(try devices[0].find(by: 2)?.text == "later")
        for workspace in [local, other] { try await workspace.close() }
    }

    /// Each would take the places of the other's objects, here and there (decision 281).
    @Test func twoTypesOfOneNameAreToldApart() async throws {
        let local = try await Workspace.inMemory()
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        let first = SyncedRepository(of: Cart.Item.self, in: local, with: shared)
        let second = SyncedRepository(of: Order.Item.self, in: local, with: shared)
        try await first.save(Cart.Item(id: 1))
        let calls: [@Sendable () async throws -> Void] = [
            { try await second.save(Order.Item(id: 1)) },
            { try await second.update(1) { (item: inout Order.Item?) in item = nil } },
            { try await second.synchronize() },
        ]
        for call in calls {
            let error = await #expect(throws: RoostError.self) { try await call() }
            #expect(error?.code == .conflict)
        }
        let named = SyncedRepository(
            of: Order.Item.self, named: "Order.Item", in: local, with: shared)
        try await named.save(Order.Item(id: 1))
        #expect(try await named.synchronize().sentCount == 1)
        #expect(try await first.synchronize().sentCount == 1)
        try await local.close()
    }
}
