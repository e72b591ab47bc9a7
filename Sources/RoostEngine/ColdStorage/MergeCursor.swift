import RoostFormat
import RoostIO
import RoostSnapshot

/// One sorted run of records: a shard's log table, or a snapshot. For one user at a time.
final class RecordRun {
    private enum Kind {
        case table(SortedTable, index: Int)
        case snapshot(SnapshotCursor)
    }

    private var kind: Kind
    private(set) var isAtEnd = false
    /// Of the current record; valid until the next step.
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var sequence: UInt64 = 0
    private(set) var isPut = false
    private(set) var deadline = Deadline.never
    /// Whether compressed values may be copied as they are.
    private var copiesCompressed = false

    init(_ table: SortedTable) {
        kind = .table(table, index: 0)
        load()
    }

    init(_ snapshot: SnapshotReader) throws {
        let cursor = SnapshotCursor(snapshot)
        try cursor.moveToFirst()
        kind = .snapshot(cursor)
        load()
    }

    /// Moves to the first record whose key is not before `target`.
    func move(to target: UnsafeRawBufferPointer) throws {
        switch kind {
        case .table(let table, _): kind = .table(table, index: table.firstIndex(notBefore: target))
        case .snapshot(let cursor): try cursor.move(to: target)
        }
        load()
    }

    func moveToNext() throws {
        switch kind {
        case .table(let table, let index): kind = .table(table, index: index + 1)
        case .snapshot(let cursor): try cursor.moveToNext()
        }
        load()
    }

    private func load() {
        switch kind {
        case .table(let table, let index):
            isAtEnd = index >= table.operations.count
            guard !isAtEnd else { return }
            let operation = table.operations[index]
            key = operation.key
            sequence = operation.sequence
            isPut = operation.isPut
            deadline = operation.deadline
        case .snapshot(let cursor):
            guard let record = cursor.record else {
                isAtEnd = true
                return
            }
            isAtEnd = false
            key = cursor.key
            sequence = record.sequence
            isPut = record.isPut
            deadline = record.deadline
        }
    }

    /// Calls `body` with the current put's value, kind and payload.
    func withValue<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        switch kind {
        case .table(let table, let index): return try body(table.operations[index].value)
        case .snapshot(let cursor):
            // The cursor stands on a record while the run is not at its end.
            var result: Result?
            try cursor.snapshot.withValue(of: cursor.record!) { result = try body($0) }
            return result!
        }
    }

    /// To be called before `copyPut`: values compressed against the dictionary of a writer can be
    /// copied to it. Compared once, not for every record.
    func prepareCopies(to dictionary: CompressionDictionary) throws {
        if case .snapshot(let cursor) = kind {
            copiesCompressed = try cursor.snapshot.dictionary() == dictionary
        }
    }

    /// Adds the current put to `writer`, as it is stored where the writer's dictionary allows.
    func copyPut(to writer: inout SnapshotWriter) throws {
        if case .snapshot(let cursor) = kind, let record = cursor.record,
            copiesCompressed || !record.flags.isCompressed
        {
            try writer.add(
                key: key, sequence: sequence, flags: record.flags, stored: record.stored,
                rawCount: record.rawCount)
        } else {
            try withValue { try writer.add(key: key, sequence: sequence, value: $0) }
        }
    }
}

/// Steps through several runs as one: each key once, as the newest run that has it says.
final class MergeCursor {
    /// The newest first.
    private let runs: [RecordRun]
    private(set) var current: RecordRun?

    init(_ runs: [RecordRun]) {
        self.runs = runs
        current = smallest()
    }

    func move(to target: UnsafeRawBufferPointer) throws {
        for run in runs { try run.move(to: target) }
        current = smallest()
    }

    func moveToNext() throws {
        guard let current else { return }
        for run in runs where run !== current && !run.isAtEnd && equalBytes(run.key, current.key) {
            try run.moveToNext()
        }
        try current.moveToNext()
        self.current = smallest()
    }

    /// The run with the smallest key; of several with it the one with the newest record, which
    /// is the first, as a newer run's records are newer.
    private func smallest() -> RecordRun? {
        var best: RecordRun?
        for run in runs where !run.isAtEnd {
            guard let candidate = best else {
                best = run
                continue
            }
            if compareBytes(run.key, candidate.key) < 0 { best = run }
        }
        return best
    }
}
