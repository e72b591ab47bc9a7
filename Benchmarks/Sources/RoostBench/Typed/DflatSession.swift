import Foundation

/// One round of one engine over Dflat's table. Runs wherever its caller runs: on the main actor,
/// or off it.
struct DflatSession<Engine: TypedEngine>: Sendable {
    let keyCount: Int
    let wanted: Set<DflatWorkload>
    let directory: String
    private(set) var samples: [Sample] = []
    private var caller = "task"
    private let keys: [String]
    private let moreKeys: [String]

    init(keyCount: Int, wanted: Set<DflatWorkload>, directory: String) {
        self.keyCount = keyCount
        self.wanted = wanted
        self.directory = directory
        keys = (0..<keyCount).map { "key \($0)" }
        moreKeys = (0..<keyCount).map { "another key \($0)" }
    }

    nonisolated(nonsending) mutating func run(caller: String) async throws {
        self.caller = caller
        if wanted.contains(where: { $0.kind == .int }), Engine.kinds.contains(.int) {
            let store = try StoreDirectory(in: directory)
            defer { store.remove() }
            try await runIntegers(store.path)
        }
        if wanted.contains(where: { $0.kind == .codable }), Engine.kinds.contains(.codable) {
            try await runRecords(CodableRecord.self, .insertCodable, .readCodableCold)
        }
        if wanted.contains(where: { $0.kind == .binary }), Engine.kinds.contains(.binary) {
            try await runRecords(BinaryRecord.self, .insertBinary, .readBinaryCold)
        }
        if caller == "task", Engine.durabilities.contains(.synced) { try await runDurable() }
    }

    private nonisolated(nonsending) mutating func runIntegers(_ path: String) async throws {
        var engine = try await Engine.open(at: path, durability: .process)
        try await insert(engine, Int.self, keys, .insertInt)
        try await insert(engine, Int.self, moreKeys, .insertMoreInt)
        let expected = Array(0..<keyCount)
        try await measure(.readIntHot) { session in try await session.read(engine, expected) }
        try await engine.close()
        if caller == "task", wanted.contains(.readIntColdProcess) { try readInProcess(path) }
        engine = try await Engine.open(at: path, durability: .process)
        try await measure(.readIntCold) { session in try await session.read(engine, expected) }
        try await engine.close()
        engine = try await Engine.open(at: path, durability: .process)
        let few = Array(expected.prefix(400))
        try await measure(.readFewCold) { session in
            for _ in 0..<100 { try await session.read(engine, few) }
            return 40_000
        }
        try await measure(.updateOne, checking: engine) { session, deadline in
            var done = 0
            while done < session.keyCount {
                try await engine.set(done, forKey: session.keys[0])
                done += 1
                if deadline.hasPassed { break }
            }
            guard try await engine.value(forKey: session.keys[0], as: Int.self) == done - 1 else {
                throw BenchError("the last update is not there")
            }
            return done
        }
        try await engine.close()
    }

    private nonisolated(nonsending) mutating func runRecords<Value: TypedValue>(
        _ type: Value.Type, _ inserting: DflatWorkload, _ reading: DflatWorkload
    ) async throws {
        let store = try StoreDirectory(in: directory)
        defer { store.remove() }
        let path = store.path
        var engine = try await Engine.open(at: path, durability: .process)
        try await insert(engine, type, keys, inserting)
        try await engine.close()
        engine = try await Engine.open(at: path, durability: .process)
        // Made outside the clock, as all values are.
        let expected = (0..<keyCount).map(Value.init(number:))
        try await measure(reading) { session in try await session.read(engine, expected) }
        try await engine.close()
    }

    /// Each on disk before its call returns; from one task, and, where the engine can serve many
    /// with one sync, from 64.
    private nonisolated(nonsending) mutating func runDurable() async throws {
        guard wanted.contains(.insertInt) else { return }
        for clients in Engine.self == TypedRoost.self ? [1, 64] : [1] {
            let store = try StoreDirectory(in: directory)
            defer { store.remove() }
            let engine = try await Engine.open(at: store.path, durability: .synced)
            let keys = keys
            let count = clients == 1 ? max(keyCount / 10, 10) : keyCount
            let begin = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<clients {
                    group.addTask {
                        for index in stride(from: client, to: count, by: clients) {
                            try await engine.set(index, forKey: keys[index])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let spent = seconds(.now - begin)
            try await read(engine, Array(0..<count))
            note(.insertInt, Double(count) / spent, count, clients: clients, durability: .synced)
            try await engine.close()
        }
    }

    // MARK: Operations

    private nonisolated(nonsending) mutating func insert<Value: TypedValue>(
        _ engine: Engine, _ type: Value.Type, _ keys: [String], _ kind: DflatWorkload
    ) async throws {
        var pairs = keys.enumerated().map { ($1, Value(number: $0)) }
        if Engine.isWholeFile {
            // A set costs what the file holds: half full, it costs what all cost on average.
            let half = pairs.count / 2
            try await engine.setAll(Array(pairs[..<half]))
            pairs.removeFirst(half)
        }
        let measured = pairs
        try await measure(kind, checking: engine) { _, deadline in
            var done = 0
            for (key, value) in measured {
                try await engine.set(value, forKey: key)
                done += 1
                if deadline.hasPassed { break }
            }
            return done
        }
        if Engine.isWholeFile { try await engine.setAll(pairs) }
    }

    /// Reads as many keys as there are values expected, and checks each.
    @discardableResult
    private nonisolated(nonsending) func read<Value: TypedValue>(
        _ engine: Engine, _ expected: [Value]
    ) async throws -> Int {
        for number in expected.indices {
            let value = try await engine.value(forKey: keys[number], as: Value.self)
            // An update of the first key may have gone before.
            guard let value, number == 0 || value == expected[number] else {
                throw BenchError("not the value of \(keys[number])")
            }
        }
        return expected.count
    }

    private mutating func readInProcess(_ path: String) throws {
        let findings = try ProbeFindings.gather([
            "--engine", Engine.name, "--path", path, "--keys", String(keyCount), "--action",
            "integers",
        ])
        note(.readIntColdProcess, findings.readsPerSecond, keyCount)
    }

    // MARK: Figures

    private nonisolated(nonsending) mutating func measure(
        _ kind: DflatWorkload, _ body: nonisolated(nonsending) (DflatSession) async throws -> Int
    ) async throws {
        let begin = ContinuousClock.now
        let done = try await body(self)
        let spent = seconds(.now - begin)
        if wanted.contains(kind) { note(kind, Double(done) / spent, keyCount) }
    }

    /// Whole-file engines stop at a deadline; the row says after how many.
    private nonisolated(nonsending) mutating func measure(
        _ kind: DflatWorkload, checking engine: Engine,
        _ body: nonisolated(nonsending) (DflatSession, Deadline) async throws -> Int
    ) async throws {
        let deadline = Deadline(seconds: Engine.isWholeFile ? 2 : nil)
        let begin = ContinuousClock.now
        let done = try await body(self, deadline)
        try await engine.finishWrites()
        let spent = seconds(.now - begin)
        if wanted.contains(kind) { note(kind, Double(done) / spent, done) }
    }

    private mutating func note(
        _ kind: DflatWorkload, _ rate: Double, _ operations: Int, clients: Int = 1,
        durability: RowDurability = .process
    ) {
        samples.append(
            Sample(
                place: .init(
                    workload: kind.rawValue, clients: clients, durability: durability,
                    caller: caller),
                unit: .operationsPerSecond, value: rate,
                sampledOperations: operations < keyCount ? operations : nil))
    }

}

/// Ends a sample of operations that are too slow to do all.
struct Deadline: Sendable {
    private let end: ContinuousClock.Instant?

    init(seconds: Double?) { end = seconds.map { .now + .seconds($0) } }

    var hasPassed: Bool { end.map { ContinuousClock.now > $0 } ?? false }
}

extension DflatWorkload {
    var kind: ValueKind {
        switch self {
        case .insertCodable, .readCodableCold: .codable
        case .insertBinary, .readBinaryCold: .binary
        default: .int
        }
    }
}

/// Opens a store of integers and reads all of them; for a process that does nothing else.
func readIntegers(engine: String, path: String, keys: Int) async throws -> ProbeFindings {
    try await readIntegers(DflatSuite.type(named: engine), path, keys)
}

private func readIntegers<Engine: TypedEngine>(
    _: Engine.Type, _ path: String, _ keys: Int
) async throws -> ProbeFindings {
    let names = (0..<keys).map { "key \($0)" }
    let begin = ContinuousClock.now
    let engine = try await Engine.open(at: path, durability: .process)
    for (number, name) in names.enumerated() {
        guard try await engine.value(forKey: name, as: Int.self) == number else {
            throw BenchError("not the value of \(name)")
        }
    }
    var findings = ProbeFindings()
    findings.readsPerSecond = Double(keys) / seconds(.now - begin)
    return findings
}
