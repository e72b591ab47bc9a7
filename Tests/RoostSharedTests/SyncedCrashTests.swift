import Roost
import RoostIO
import RoostShared
import RoostSimulation
import RoostTestSupport
import Synchronization
import Testing

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var text: String
}

@Suite(.timeLimit(.minutes(5))) struct SyncedCrashTests {
    /// The power goes right after the others have the change: the device knows it as its own, though its workspace
    /// syncs what it writes only now and then.
    @Test(arguments: [1, 5])
    func aDeviceThatLosesItsPowerIsInNoConflictWithItself(count: Int) async throws {
        let seed = testSeed()
        var choices = RandomChoices(seed: seed)
        for round in 0..<20 {
            let memory = MemoryEngine()
            let engine = HookedEngine(memory)
            let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
            let configuration = Workspace.Configuration(durability: .interval(.seconds(3600)))
            let machine = SimulatedFileSystem(disk: Disk(seed: seed &+ UInt64(round)))
            var local = try await Workspace.open(
                at: "/device", configuration: configuration, fileSystem: machine)
            var notes = SyncedRepository(of: Note.self, in: local, with: shared)
            let ids = (0..<count).map { "note \($0)" }
            for id in ids { try await notes.save(Note(id: id, text: "mine")) }
            try await local.synchronize()
            let disk = Mutex<Disk?>(nil)
            engine.set {
                $0.commit = { commit in
                    guard commit.operations.count == count + 1 else { return nil }
                    let outcome = try await memory.commit(commit, before: .now + .seconds(60))
                    disk.withLock { $0 = machine.turnOff() }
                    return outcome
                }
            }
            // What a machine without power writes into mapped memory comes to nothing, and it may not notice.
            _ = await Task { [notes] in try await notes.synchronize() }.result
            engine.set { $0.commit = { _ in nil } }
            let stopped = try #require(disk.withLock { $0 })

            let successor = SimulatedFileSystem(disk: stopped.afterPowerCut(&choices))
            local = try await Workspace.open(
                at: "/device", configuration: configuration, fileSystem: successor)
            notes = SyncedRepository(of: Note.self, in: local, with: shared)
            let report = try await notes.synchronize()
            #expect(report.resolutions.isEmpty, "seed \(seed), round \(round)")
            #expect(try await notes.loadAll() == ids.map { Note(id: $0, text: "mine") })
            #expect(try notes.waitingCount == 0)
            try await local.close()
        }
    }

    /// Keys that look the same, and are other bytes, are other objects.
    @Test func whatIsRemovedIsToldFromWhatLooksTheSame() async throws {
        let engine = MemoryEngine()
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        let (one, other) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        let ones = SyncedRepository(of: Note.self, in: one, with: shared)
        let others = SyncedRepository(of: Note.self, in: other, with: shared)
        try await ones.save(Note(id: "caf\u{e9}", text: "composed"))
        try await ones.save(Note(id: "cafe\u{301}", text: "decomposed"))
        _ = try await ones.synchronize()
        #expect(try await others.synchronize().takenCount == 2)
        try await ones.delete("cafe\u{301}")
        _ = try await ones.synchronize()
        #expect(try await others.synchronize().takenCount == 1)
        #expect(try await others.loadAll().map(\.text) == ["composed"])
        try await one.close()
        try await other.close()
    }
}
