import Roost
import Testing

@testable import RoostEngine
@testable import RoostFormat
@testable import RoostReplica

/// Two machines write to one journal, through a storage that loses requests, loses answers, makes empty objects of
/// what breaks off, and carries requests out long after they were given up; both die and come back. Their bases name snapshots, of which they have
/// many in common, and their removals are made some time. One schedule is one seed.
struct JournalScheduleTests {
    @Test(.serialized, arguments: [(1_000, false), (100, true)])
    func ofTwoWritersNoHistoryIsEverMixedOrLost(count: Int, isSealed: Bool) async throws {
        var overtakings = 0
        var acknowledged = 0
        var empties = 0
        for schedule in 0..<UInt64(count) {
            let seed = testSeed &+ schedule
            // Other tests go on between two schedules.
            await Task.yield()
            var run = JournalRun(seed: seed, keys: isSealed ? newCopyKeys() : nil)
            do { try run.run() } catch { Issue.record("seed \(seed): \(error)") }
            overtakings += run.overtakingCount
            acknowledged += run.acknowledged.count
            empties += run.emptyCount
        }
        // That it is about something.
        #expect(overtakings > count && acknowledged > 10 * count, "seed \(testSeed)")
        #expect(empties > count, "seed \(testSeed)")
    }
}

private struct Broken: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// One schedule.
private struct JournalRun {
    /// A machine: its log is what it has committed, and stays when its process dies.
    struct Machine {
        /// One number for each batch; no two batches of any machine have the same.
        var log: [UInt64] = []
        /// What its snapshots hold: few different things, so that both have the same now and then.
        var contents: Set<UInt8> = []
        var process: Process?
    }

    struct Process {
        var state: JournalState
        /// What a list said; used some time later.
        var end: JournalEntry??
        var position: UInt64 = 0
        var isContinuing = false
        var isOvertaken = false
        var bases: [Retention.KeptBase] = []
        var reusableFrom: UInt64 = 0
        /// How many bases go with the removal whose entry is on its way.
        var removedCount = 0
    }

    /// What the storage will do some time, whoever waits for it or not.
    enum Late {
        case put(UInt64, [UInt8])
        case delete(UInt64)
        case deleteNamed(String)
    }

    var numbers: SeededNumbers
    var machines = [Machine(), Machine()]
    var objects: [UInt64: [UInt8]] = [:]
    /// Snapshots, and the records of bases.
    var names: Set<String> = []
    /// By the name of the record.
    var records: [String: BaseRecord] = [:]
    var late: [Late] = []
    var lastBatch: UInt64 = 0
    var removedBefore: UInt64 = 0
    var clock: UInt64 = 1
    /// By index: what was acknowledged.
    var acknowledged: [UInt64: [UInt8]] = [:]
    var overtakingCount = 0
    var emptyCount = 0
    var isCalm = false

    /// Of a sealed copy: `objects` are what the storage has, and each attempt at one seals it anew.
    let keys: CopyKeys?

    init(seed: UInt64, keys: CopyKeys?) {
        numbers = SeededNumbers(seed: seed)
        self.keys = keys
    }

    private func sealed(_ bytes: [UInt8], _ index: UInt64) throws -> [UInt8] {
        try keys?.seal(bytes, as: ObjectName.entry(index)) ?? bytes
    }

    /// What an entry's object holds.
    private func plain(_ index: UInt64) throws -> [UInt8]? {
        guard let stored = objects[index] else { return nil }
        if stored.isEmpty { return [] }
        return try keys?.open(stored, as: ObjectName.entry(index)) ?? stored
    }

    /// The index of the last entry.
    private var end: UInt64? { objects.lazy.filter { !$0.value.isEmpty }.map(\.key).max() }

    mutating func run() throws {
        for _ in 0..<400 { try step() }
        // In the end one of them is let alone, and goes on.
        isCalm = true
        let winner = Int.random(in: 0..<2, using: &numbers)
        machines[winner].process = nil
        let hasOlder = machines[1 - winner].process?.state.phase == .owning
        // So that it has something to add.
        machines[1 - winner].process?.isContinuing = false
        for _ in 0..<200 { try step(machine: winner) }
        while !late.isEmpty { finishLate(at: 0) }
        try check()
        guard case .owning = machines[winner].process?.state.phase else {
            throw Broken("nobody owns the journal in the end")
        }
        for _ in 0..<20 { try step(machine: 1 - winner, begins: false) }
        if hasOlder, machines[1 - winner].process?.isOvertaken != true {
            throw Broken("the older writer does not learn that it was overtaken")
        }
        try check()
    }

    // MARK: Steps

    private mutating func step() throws {
        clock += 1
        if !late.isEmpty, numbers.isOne(in: 6) {
            finishLate(at: Int.random(in: 0..<late.count, using: &numbers))
        }
        let machine = Int.random(in: 0..<2, using: &numbers)
        if numbers.isOne(in: 60) { machines[machine].process = nil }
        try step(machine: machine)
        if numbers.isOne(in: 20) { try check() }
    }

    private mutating func finishLate(at index: Int) {
        switch late.remove(at: index) {
        case .put(let index, let bytes): if objects[index] == nil { objects[index] = bytes }
        case .delete(let index): objects[index] = nil
        case .deleteNamed(let name): names.remove(name)
        }
    }

    private mutating func step(machine: Int, begins: Bool = true) throws {
        for _ in 0..<Int.random(in: 0..<3, using: &numbers) {
            lastBatch += 1
            machines[machine].log.append(lastBatch)
        }
        if numbers.isOne(in: 10) {
            machines[machine].contents = Set(
                (0..<2).map { _ in UInt8.random(in: 0..<8, using: &numbers) })
        }
        guard var process = machines[machine].process else {
            if begins, isCalm || numbers.isOne(in: 8) {
                let writer = Identifier(
                    first: numbers.next() | 1, second: numbers.next() | 1)
                machines[machine].process = Process(state: JournalState(writer: writer))
            }
            return
        }
        if process.isOvertaken {
            // Started anew by somebody who thinks that this machine is to go on.
            if begins, numbers.isOne(in: 30) { machines[machine].process = nil }
            return
        }
        defer { machines[machine].process = process }
        if process.state.phase == .outside {
            guard let end = process.end else {
                process.end = .some(try end.map { try entry($0) })
                return
            }
            process.state.beginTakeover(behind: end, name: "machine \(machine)", time: clock)
        } else if process.state.isBusy {
            try ask(&process, machine)
        } else {
            try beginAdding(&process, machine)
        }
    }

    private func entry(_ index: UInt64) throws -> JournalEntry {
        try JournalEntry(plain(index)!, index: index)
    }

    private mutating func ask(_ process: inout Process, _ machine: Int) throws {
        let request = process.state.request!
        let fate = isCalm ? 0 : Int.random(in: 0..<10, using: &numbers)
        let reply: JournalState.Reply
        switch (request, fate) {
        case (.putIfAbsent(let index, _), 6):
            if objects[index] == nil {
                objects[index] = []
                emptyCount += 1
            }
            reply = .unknown
        case (.putIfAbsent(let index, let bytes), 7):
            late.append(.put(index, try sealed(bytes, index)))
            reply = .unknown
        case (_, 8): reply = .unknown
        case (_, 9):
            _ = try answer(request)
            reply = .unknown
        default: reply = try answer(request)
        }
        switch try process.state.receive(reply) {
        case nil, .absorbed: break
        case .accepted(var entry):
            if let other = acknowledged[entry.index] {
                throw Broken("entry \(entry.index) was acknowledged twice: \(other.count)")
            }
            acknowledged[entry.index] = entry.encoded()
            noteAccepted(entry, &process, machine)
        case .overtaken:
            overtakingCount += 1
            process.isOvertaken = true
        }
    }

    private mutating func answer(_ request: JournalState.Request) throws -> JournalState.Reply {
        switch request {
        case .putIfAbsent(let index, let bytes):
            if objects[index] != nil { return .isTaken }
            objects[index] = try sealed(bytes, index)
            return .written
        case .get(let index): return try plain(index).map { .found($0) } ?? .missing
        case .list(let index):
            return .listed(last: end.flatMap { $0 > index ? $0 : nil })
        }
    }

    private mutating func noteAccepted(
        _ entry: JournalEntry, _ process: inout Process, _ machine: Int
    ) {
        switch entry.kind {
        case .takeover:
            let standing = entry.standing
            let log = machines[machine].log
            process.position = standing.lastSequence
            process.isContinuing =
                standing.history != .none && standing.lastSequence > 0
                && standing.lastSequence <= UInt64(log.count)
                && proof(log[Int(standing.lastSequence) - 1]) == standing.proof
            process.bases = bases(from: standing.base)
            process.reusableFrom = process.bases.last?.index ?? 0
        case .start:
            process.isContinuing = true
            process.position = entry.standing.lastSequence
        case .frames: process.position = entry.standing.lastSequence
        case .base:
            if let base = base(entry) { process.bases.append(base) }
        case .removal:
            guard let payload = try? RemovalPayload(entry) else { return }
            process.bases.removeFirst(process.removedCount)
            late += payload.names.map(Late.deleteNamed)
            removedBefore = max(removedBefore, payload.entriesBefore)
            for index in objects.keys where index < payload.entriesBefore {
                if let bytes = try? plain(index), let old = try? JournalEntry(bytes, index: index),
                    old.kind != .takeover
                {
                    late.append(.delete(index))
                }
            }
        }
    }

    private func proof(_ batch: UInt64) -> FrameProof {
        FrameProof(checksum: UInt32(truncatingIfNeeded: batch &* 0x9e37_79b9), seed: UInt32(batch))
    }

    private mutating func beginAdding(_ process: inout Process, _ machine: Int) throws {
        let log = machines[machine].log
        guard process.isContinuing else {
            let begin = UInt64.random(in: 0...UInt64(log.count), using: &numbers)
            let history = Identifier(first: numbers.next() | 1, second: UInt64(machine) + 1)
            return process.state.beginAdding(.start, time: clock) { standing in
                standing.history = history
                standing.lastSequence = begin
                standing.proof = FrameProof(checksum: 0, seed: 0)
            }
        }
        let standing = process.state.standing!
        if !standing.hasBase || process.bases.isEmpty || numbers.isOne(in: 30) {
            return beginBase(&process, machine)
        }
        if numbers.isOne(in: 40), beginRemoval(&process) { return }
        guard process.position < UInt64(log.count) else { return }
        let end = UInt64.random(
            in: (process.position + 1)...UInt64(log.count), using: &numbers)
        let batches = log[Int(process.position)..<Int(end)]
        let bytes = batches.flatMap { batch in
            withUnsafeBytes(of: batch.littleEndian, Array.init)
        }
        let payload = FramesPayload(
            marks: [Mark(time: clock, sequence: end)], runs: [.init(seed: 0, bytes: bytes)])
        let proof = proof(log[Int(end) - 1])
        process.state.beginAdding(.frames, payload: payload.encoded(), time: clock) { standing in
            standing.lastSequence = end
            standing.proof = proof
        }
    }

    // MARK: Bases

    /// Of an entry whose record is still there.
    private func base(_ entry: JournalEntry) -> Retention.KeptBase? {
        guard entry.kind == .base, let name = try? BasePayload(entry).name, names.contains(name),
            let record = records[name]
        else { return nil }
        return .init(index: entry.index, name: name, record: record, isComplete: true)
    }

    /// As `JournalReader.bases`: those whose entries and records are still there.
    private func bases(from index: UInt64) -> [Retention.KeptBase] {
        var found: [Retention.KeptBase] = []
        var index = index
        while index > 0, let bytes = try? plain(index),
            let entry = try? JournalEntry(bytes, index: index), let base = base(entry),
            let payload = try? BasePayload(entry)
        {
            found.append(base)
            index = payload.earlier < index ? payload.earlier : 0
        }
        return found.reversed()
    }

    private mutating func beginBase(_ process: inout Process, _ machine: Int) {
        let standing = process.state.standing!
        let reusable = Retention.reusable(in: process.bases, from: process.reusableFrom)
        let snapshots = machines[machine].contents.sorted().map { content in
            reusable[[content]]
                ?? BaseRecord.Snapshot(
                    number: UInt64(content), sizeBytes: 1, digest: [content],
                    name: ObjectName.snapshot(
                        [content], process.state.writer, process.state.next))
        }
        let own = "-\(process.state.writer)-\(process.state.next)"
        names.formUnion(snapshots.map(\.name).filter { $0.hasSuffix(own) })
        let name = ObjectName.base(process.state.next, process.state.writer)
        names.insert(name)
        records[name] = BaseRecord(
            history: standing.history, time: clock, firstEntry: standing.start,
            manifest: .init(
                workspace: .init(first: 1, second: UInt64(machine)),
                hashSeed: .init(first: 0, second: 0)),
            snapshots: snapshots)
        let payload = BasePayload(name: name, digest: [], earlier: standing.base)
        process.state.beginAdding(.base, payload: payload.encoded(), time: clock)
    }

    private mutating func beginRemoval(_ process: inout Process) -> Bool {
        let count = Retention.removedCount(
            of: process.bases, keepingFrom: UInt64.random(in: 0...clock, using: &numbers))
        let found = Retention.removal(
            of: process.bases.prefix(count), keeping: process.bases.dropFirst(count),
            storedSnapshots: names.filter { $0.hasPrefix(ObjectName.snapshots) }.sorted(),
            storedBases: names.filter { $0.hasPrefix(ObjectName.bases) }.sorted())
        guard let found else { return false }
        process.removedCount = count
        process.state.beginAdding(.removal, payload: found.encoded(), time: clock)
        return true
    }

    // MARK: What must hold at every moment

    private func checkBase(_ standing: JournalEntry.Standing) throws {
        guard standing.base > 0 else { return }
        guard objects[standing.base] != nil, let base = base(try entry(standing.base)) else {
            throw Broken("the base at \(standing.base) is lost")
        }
        for snapshot in base.record.snapshots where !names.contains(snapshot.name) {
            throw Broken("the base at \(standing.base) names \(snapshot.name), which is gone")
        }
    }

    private func check() throws {
        // What is removed may be gone, or be written once more by a request that comes late.
        for (index, bytes) in acknowledged where index >= removedBefore {
            guard let stored = try plain(index) else {
                throw Broken("entry \(index), which was acknowledged, is lost")
            }
            if stored != bytes { throw Broken("entry \(index) is not what was acknowledged") }
        }
        guard let end else { return }
        let last = try entry(end)
        guard last.standing.history != .none else { return }
        try checkBase(last.standing)
        // The newest history, from its begin on.
        var index = last.standing.start
        var previous: JournalEntry?
        var sequence: UInt64?
        let machine = Int(last.standing.history.second) - 1
        while index <= end {
            guard let stored = objects[index] else { throw Broken("entry \(index) is missing") }
            if stored.isEmpty {
                index += 1
                continue
            }
            let entry = try entry(index)
            if let previous, previous.digest != entry.previous {
                throw Broken("entry \(index) does not follow the one before it")
            }
            guard entry.standing.history == last.standing.history else {
                throw Broken("entry \(index) is of another history")
            }
            if entry.kind == .start { sequence = entry.standing.lastSequence }
            if entry.kind == .frames {
                for run in try FramesPayload(entry).runs {
                    for begin in stride(from: 0, to: run.bytes.count, by: 8) {
                        let batch = run.bytes[begin..<(begin + 8)].reversed().reduce(
                            UInt64.zero
                        ) { $0 << 8 | UInt64($1) }
                        sequence = sequence! + 1
                        guard machines[machine].log[Int(sequence!) - 1] == batch else {
                            throw Broken("batch \(sequence!) is of another machine or place")
                        }
                    }
                }
                guard sequence == entry.standing.lastSequence else {
                    throw Broken("entry \(index) has a gap")
                }
            }
            previous = entry
            index += 1
        }
    }
}
