import Foundation
import Roost
import RoostConformance
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostShared

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    /// Every edit that is in it.
    var edits: Set<Int>
}

/// A device with a connection of its own, which breaks in the middle of exchanges.
private struct Device: Sendable {
    let local: Workspace
    let memory: MemoryEngine
    let engine: FaultyEngine
    let shared: SharedWorkspace

    init(_ engine: MemoryEngine, seed: UInt64) async throws {
        local = try await .inMemory()
        memory = engine
        self.engine = FaultyEngine(engine, seed: seed)
        shared = try await .connect(
            to: .engine(self.engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(60)))
    }

    func notes(
        _ name: String, _ deadline: Duration = .seconds(60), merges: Bool
    ) -> SyncedRepository<Note> {
        let shared = shared.withCallDeadline(deadline)
        guard merges else {
            return SyncedRepository(of: Note.self, named: name, in: local, with: shared)
        }
        return SyncedRepository(of: Note.self, named: name, in: local, with: shared) {
            mine, theirs in
            guard let mine, let theirs else { return mine == nil ? .theirs : .mine }
            return .merged(Note(id: mine.id, edits: mine.edits.union(theirs.edits)))
        }
    }
}

@Suite struct SyncedRepositoryTests {
    /// How many schedules: 150, or as the environment says; `make synced` runs 10,000.
    private static let scheduleCount =
        ProcessInfo.processInfo.environment["ROOST_SYNCED_SCHEDULES"].flatMap { Int($0) } ?? 150

    /// Devices that edit the same notes, also during exchanges that break, are cancelled or lose answers, of half of them
    /// with a store that is emptied now and then, and all exchange in the end: they end equal, and an edit is missing only where a report says that the rule left it out.
    @Test func devicesEndEqualAndNoEditIsLostUnseen() async throws {
        let seed = testSeed()
        var chance = SeededGenerator(seed: seed)
        var made = 0
        var tally = Schedule.Tally()
        while made < Self.scheduleCount {
            // Each engine forgets what earlier schedules left.
            let engine = MemoryEngine()
            var devices: [Device] = []
            for _ in 0..<3 { devices.append(try await Device(engine, seed: chance.next())) }
            for _ in 0..<min(50, Self.scheduleCount - made) {
                var schedule = Schedule(
                    devices, number: made, merges: chance.once(in: 2), empties: chance.once(in: 2))
                try await schedule.run(&chance)
                tally += schedule.tally
                made += 1
            }
            for device in devices { try await device.local.close() }
        }
        print("\(made) schedules: \(tally)")
        #expect(tally.brokenCount > 0 && tally.conflictCount > 0 && tally.emptiedCount > 0)
    }

    /// A device alone has no conflicts, however often it does not get an answer.
    @Test func aDeviceIsInNoConflictWithItself() async throws {
        var chance = SeededGenerator(seed: testSeed())
        let device = try await Device(MemoryEngine(), seed: chance.next())
        for round in 0..<50 {
            let notes = device.notes("notes\(round)", .milliseconds(10), merges: true)
            for edit in 0..<6 {
                let id = chance.below(2)
                if edit == 3 {
                    try await notes.delete(id)
                } else {
                    try await notes.save(Note(id: id, edits: [edit]))
                }
                device.engine.cutOff(afterCalls: chance.below(12))
                do {
                    #expect(try await notes.synchronize().resolutions.isEmpty)
                } catch let error as RoostError {
                    #expect([.unavailable, .unknownOutcome].contains(error.code), "\(error)")
                }
                device.engine.heal()
            }
            let patient = device.notes("notes\(round)", merges: true)
            #expect(try await patient.synchronize().resolutions.isEmpty)
            let there = device.shared.repository(of: Note.self, named: "notes\(round)")
            #expect(try await there.loadAll() == (try await patient.loadAll()))
        }
        try await device.local.close()
    }

    /// A change that is made while the rule's result is sent is based on what was before the rule: it is decided again.
    @Test func aChangeDuringAnExchangeDoesNotHideTheOthers() async throws {
        let memory = MemoryEngine()
        let engine = HookedEngine(memory)
        let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let local = try await Workspace.inMemory()
        let notes = SyncedRepository(of: Note.self, in: local, with: shared) { mine, theirs in
            .merged(Note(id: 1, edits: (mine?.edits ?? []).union(theirs?.edits ?? [])))
        }
        try await notes.save(Note(id: 1, edits: [1]))
        try await shared.repository(of: Note.self).save(Note(id: 1, edits: [2]))
        engine.set {
            $0.commit = { commit in
                // Of an object and the receipt.
                guard commit.operations.count == 2 else { return nil }
                let outcome = try await memory.commit(commit, before: .now + .seconds(60))
                engine.set { $0.commit = { _ in nil } }
                try await notes.save(Note(id: 1, edits: [1, 3]))
                return outcome
            }
        }
        let report = try await notes.synchronize()
        #expect(report.resolutions.map(\.result?.edits) == [[1, 2], [1, 2, 3]])
        #expect(try notes.find(by: 1)?.edits == [1, 2, 3])
        #expect(try await shared.repository(of: Note.self).find(by: 1)?.edits == [1, 2, 3])
        try await local.close()
    }

    /// The last writer by version is who is exchanged last.
    @Test func withoutARuleTheLastExchangedStays() async throws {
        let engine = MemoryEngine()
        let one = try await Device(engine, seed: 1)
        let other = try await Device(engine, seed: 2)
        let ones = one.notes("notes", merges: false)
        let others = other.notes("notes", merges: false)
        try await ones.save(Note(id: 1, edits: [1]))
        try await others.save(Note(id: 1, edits: [2]))
        _ = try await ones.synchronize()
        let resolution = try await others.synchronize().resolutions.first
        #expect(resolution?.theirs?.edits == [1])
        #expect(resolution?.result?.edits == [2])
        _ = try await ones.synchronize()
        #expect(try ones.find(by: 1)?.edits == [2])
        for device in [one, other] { try await device.local.close() }
    }

    /// A report may be lost with the process, after the last thing that was stored: the next one tells of the conflict.
    @Test func whatAProcessWasToldIsToldAgainByTheNext() async throws {
        let engine = MemoryEngine()
        let device = try await Device(engine, seed: 1)
        let notes = device.notes("notes", merges: false)
        try await notes.save(Note(id: 1, edits: [1]))
        try await device.shared.repository(of: Note.self, named: "notes").save(
            Note(id: 1, edits: [2]))
        #expect(try await notes.synchronize().resolutions.count == 1)
        // As another process has left it.
        let stored = device.local.dictionary("notes/device")
        var told = try #require(try stored.value(forKey: "told", as: ToldResolutions.self))
        told.process &+= 1
        try await stored.set(told, forKey: "told")
        #expect(try await notes.synchronize().resolutions.map(\.theirs?.edits) == [[2]])
        #expect(try await notes.synchronize().resolutions.isEmpty)
        #expect(try device.local.dictionary("notes/resolutions").keys == [])
        try await device.local.close()
    }

    /// Programs that exchange once each: two of them are told of a conflict, and no more.
    @Test func whatTwoProcessesWereToldIsForgottenByAnyOther() async throws {
        let device = try await Device(MemoryEngine(), seed: 1)
        let notes = device.notes("notes", merges: false)
        let theirs = device.shared.repository(of: Note.self, named: "notes")
        let stored = device.local.dictionary("notes/device")
        var told: [[Int]] = []
        for process in 1...5 {
            // A conflict for each of the first two.
            if process <= 2 {
                try await notes.save(Note(id: process, edits: [1]))
                try await theirs.save(Note(id: process, edits: [2]))
            }
            let report = try await notes.synchronize()
            told.append(report.resolutions.compactMap(\.mine?.id))
            if var own = try stored.value(forKey: "told", as: ToldResolutions.self) {
                own.process &+= 1
                try await stored.set(own, forKey: "told")
            }
        }
        #expect(told == [[1], [1, 2], [2], [], []])
        #expect(try device.local.dictionary("notes/resolutions").keys == [])
        #expect(try !stored.contains("told"))
        try await device.local.close()
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

/// Edits and exchanges of three devices, by chance.
private struct Schedule {
    /// What schedules came to.
    struct Tally {
        var exchangeCount = 0
        var brokenCount = 0
        var conflictCount = 0
        var editCount = 0
        var emptiedCount = 0

        static func += (left: inout Tally, right: Tally) {
            left.exchangeCount += right.exchangeCount
            left.brokenCount += right.brokenCount
            left.conflictCount += right.conflictCount
            left.editCount += right.editCount
            left.emptiedCount += right.emptiedCount
        }
    }

    let devices: [Device]
    let number: Int
    let merges: Bool
    let empties: Bool
    var tally = Tally()
    private var made: Set<Int> = []
    private var removed: Set<Int> = []
    private var leftOut: Set<Int> = []
    private var hasRemovals = false

    init(_ devices: [Device], number: Int, merges: Bool, empties: Bool) {
        self.devices = devices
        self.empties = empties
        self.number = number
        self.merges = merges
    }

    private func notes(
        _ device: Device, _ deadline: Duration = .seconds(60)
    ) -> SyncedRepository<Note> {
        device.notes("notes\(number)", deadline, merges: merges)
    }

    mutating func run(_ chance: inout SeededGenerator) async throws {
        for _ in 0..<12 {
            let device = devices[chance.below(3)]
            if empties, chance.once(in: 8) { try await empty() }
            if chance.once(in: 3) {
                try await exchange(device, &chance)
            } else {
                try await edit(device, &chance)
            }
        }
        for _ in 0..<2 {
            for device in devices { note(try await notes(device).synchronize()) }
        }
        let all = try await notes(devices[0]).loadAll()
        for device in devices {
            #expect(try notes(device).waitingCount == 0)
            #expect(try await notes(device).loadAll() == all, "schedule \(number)")
        }
        let kept = all.reduce(into: Set<Int>()) { $0.formUnion($1.edits) }
        let missing = made.subtracting(kept).subtracting(removed).subtracting(leftOut)
        #expect(missing.isEmpty, "schedule \(number): \(missing) are gone, and nobody said so")
        if merges, !hasRemovals { #expect(leftOut.isEmpty, "schedule \(number)") }
    }

    /// Takes away all that the devices have there, at once.
    private mutating func empty() async throws {
        let names = ["notes\(number)", "notes\(number)%2Fdevices", "notes\(number)%2Forigins"]
        let operations = names.map { name in
            SharedOperation.removeRange(
                SharedKeyRange(
                    lower: Array("test/\(name)/".utf8), upper: Array("test/\(name)0".utf8)))
        }
        _ = try await devices[0].memory.commit(
            SharedCommit(operations: operations), before: .now + .seconds(60))
        tally.emptiedCount += 1
    }

    private mutating func edit(_ device: Device, _ chance: inout SeededGenerator) async throws {
        let edit = made.count
        let id = chance.below(3)
        tally.editCount += 1
        if chance.once(in: 6) {
            hasRemovals = true
            let edits = try await notes(device).update(id) { note in
                defer { note = nil }
                return note?.edits ?? []
            }
            removed.formUnion(edits)
        } else {
            try await notes(device).update(id) { note in
                note = Note(id: id, edits: (note?.edits ?? []).union([edit]))
            }
            made.insert(edit)
        }
    }

    /// One exchange, with edits during it, which half of the time breaks, loses answers or is cancelled.
    private mutating func exchange(
        _ device: Device, _ chance: inout SeededGenerator
    ) async throws {
        tally.exchangeCount += 1
        let isCalm = chance.once(in: 2)
        let isCancelled = !isCalm && chance.once(in: 4)
        if !isCalm {
            device.engine.set(
                .init(lostAnswers: 100, lostRequests: 50, lateRequests: 100, lastSpace: 50))
            if chance.once(in: 2) { device.engine.cutOff(afterCalls: chance.below(30)) }
        }
        let repository = notes(device, isCalm ? .seconds(60) : .milliseconds(15))
        let exchange = Task { try await repository.synchronize() }
        for _ in 0..<chance.below(4) {
            for _ in 0..<chance.below(20) { await Task.yield() }
            if empties, chance.once(in: 8) { try await empty() }
            try await edit(device, &chance)
        }
        if isCancelled { exchange.cancel() }
        do { note(try await exchange.value) } catch let error as RoostError where !isCalm {
            let codes: [RoostError.Code] = [
                .unavailable, .unknownOutcome, .outOfSpace, .cancelled, .conflict,
            ]
            #expect(codes.contains(error.code), "schedule \(number): \(error)")
            tally.brokenCount += 1
        }
        device.engine.set(.init())
        device.engine.heal()
    }

    private mutating func note(_ report: SyncedRepository<Note>.Report) {
        tally.conflictCount += report.resolutions.count
        for resolution in report.resolutions {
            let both = (resolution.mine?.edits ?? []).union(resolution.theirs?.edits ?? [])
            leftOut.formUnion(both.subtracting(resolution.result?.edits ?? []))
        }
    }
}
