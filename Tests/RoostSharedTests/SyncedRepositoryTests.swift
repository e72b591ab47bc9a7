import Roost
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    /// Every edit that is in it.
    var edits: Set<Int>
}

@Suite struct SyncedRepositoryTests {
    /// Devices that edit the same notes, exchange now and then, and all in the end: they end equal, and an edit is
    /// missing only where a report says that the rule left it out.
    @Test func devicesEndEqualAndNoEditIsLostUnseen() async throws {
        let seed = testSeed()
        var chance = SeededGenerator(seed: seed)
        let shared = try await SharedWorkspace.connect(to: .memory(), namespace: "test")
        var locals: [Workspace] = []
        for _ in 0..<3 { locals.append(try await .inMemory()) }
        for schedule in 0..<150 {
            try await run(schedule, merges: schedule.isMultiple(of: 2), shared, locals, &chance)
        }
        for local in locals { try await local.close() }
    }

    private func run(
        _ schedule: Int, merges: Bool, _ shared: SharedWorkspace, _ locals: [Workspace],
        _ chance: inout SeededGenerator
    ) async throws {
        let devices = locals.map { local in
            SyncedRepository(of: Note.self, named: "notes\(schedule)", in: local, with: shared) {
                mine, theirs in
                guard merges, let mine, let theirs else { return .mine }
                return .merged(Note(id: mine.id, edits: mine.edits.union(theirs.edits)))
            }
        }
        var made: Set<Int> = []
        var removed: Set<Int> = []
        var leftOut: Set<Int> = []
        var hasRemovals = false
        func note(_ report: SyncedRepository<Note>.Report) {
            for resolution in report.resolutions {
                let both = (resolution.mine?.edits ?? []).union(resolution.theirs?.edits ?? [])
                leftOut.formUnion(both.subtracting(resolution.result?.edits ?? []))
            }
        }
        for edit in 0..<12 {
            let device = devices[chance.below(3)]
            let id = chance.below(3)
            switch chance.below(6) {
            case 0, 1: note(try await device.synchronize())
            case 2:
                hasRemovals = true
                removed.formUnion(try device.find(by: id)?.edits ?? [])
                try await device.delete(id)
            default:
                var one = try device.find(by: id) ?? Note(id: id, edits: [])
                one.edits.insert(edit)
                made.insert(edit)
                try await device.save(one)
            }
        }
        for _ in 0..<2 { for device in devices { note(try await device.synchronize()) } }
        let all = try await devices[0].loadAll()
        for device in devices {
            #expect(try device.waitingCount == 0)
            #expect(try await device.loadAll() == all, "schedule \(schedule)")
        }
        let kept = all.reduce(into: Set<Int>()) { $0.formUnion($1.edits) }
        let missing = made.subtracting(kept).subtracting(removed).subtracting(leftOut)
        #expect(missing.isEmpty, "schedule \(schedule): \(missing) are gone, and nobody said so")
        if merges, !hasRemovals { #expect(leftOut.isEmpty) }
    }

    @Test func withoutTheOthersEverythingWorksAndWaits() async throws {
        let engine = MemoryEngine()
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        let local = try await Workspace.inMemory()
        let notes = SyncedRepository(of: Note.self, in: local, with: shared)
        await engine.close()
        try await notes.save(Note(id: 1, edits: [1]))
        try await notes.save(Note(id: 1, edits: [1, 2]))
        #expect(try notes.find(by: 1)?.edits == [1, 2])
        #expect(try notes.waitingCount == 1)
        await #expect(throws: RoostError.self) { try await notes.synchronize() }
        #expect(try notes.waitingCount == 1)
        try await local.close()
    }
}
