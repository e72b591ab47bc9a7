import RoostEngine
import RoostFormat
import RoostSnapshot

/// What a query reads from: a moment of the store, or an attempt of a transaction, which notes what is
/// read and shows its own changes.
protocol ObjectSource: ~Copyable {
    /// The moment, for what a plan rests on but not its result.
    mutating func planningView() throws -> EngineView

    /// Whether the indexes of a dictionary show what the source does.
    func showsIndexes(of name: DictionaryName) -> Bool

    /// Whether writers may wait for whoever reads.
    var isWaitedFor: Bool { get }

    /// Notes that an index is relied on.
    mutating func noteMark(_ mark: [UInt8]) throws

    /// The records in `range`, until `body` says `false`; about `expectedCount` will be looked at.
    mutating func forEachRecord(
        in range: RecordRange, _ order: ScanOrder, expectedCount: Int,
        _ body: (_ recordKey: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws ->
            Bool
    ) throws

    /// How many records are in `range`, counted up to `limit`. No value is looked at.
    mutating func count(in range: RecordRange, upTo limit: Int) throws -> Int

    /// Calls `body` with the value of a record, kind and payload, or with `nil`.
    mutating func withValue<Result>(
        recordKey: [UInt8], in name: DictionaryName,
        _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result
}

extension EngineTransaction: ObjectSource {
    mutating func planningView() throws -> EngineView { try readingView() }

    func showsIndexes(of name: DictionaryName) -> Bool { !hasPlainChanges(of: name) }
    var isWaitedFor: Bool { hasTurn }

    mutating func noteMark(_ mark: [UInt8]) throws {
        try withValue(recordKey: mark, in: IndexCatalog.name) { _ in }
    }

    mutating func forEachRecord(
        in range: RecordRange, _ order: ScanOrder, expectedCount: Int,
        _ body: (_ recordKey: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws ->
            Bool
    ) throws {
        try scan(range, order, limit: .max, body)
    }

    mutating func count(in range: RecordRange, upTo limit: Int) throws -> Int {
        // Up to a limit less is looked at, which others may change less of.
        if limit == .max, let count = try count(in: range) { return count }
        var count = 0
        try scan(range, .ascending, limit: .max) { _, _ in
            count += 1
            return count < limit
        }
        return count
    }
}

/// A moment of the store.
struct ViewSource: ObjectSource {
    let view: EngineView
    /// Where it is to be known what is read.
    var notes: ReadNotes?

    func planningView() -> EngineView { view }
    func showsIndexes(of name: DictionaryName) -> Bool { true }
    var isWaitedFor: Bool { false }

    func noteMark(_ mark: [UInt8]) {
        guard let notes else { return }
        mark.withUnsafeBytes { notes.note(recordKey: $0, in: IndexCatalog.name) }
    }

    func forEachRecord(
        in range: RecordRange, _ order: ScanOrder, expectedCount: Int,
        _ body: (_ recordKey: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws ->
            Bool
    ) throws {
        let scan = try view.scan(range, order, limit: expectedCount)
        var last: [UInt8]?
        // Also where reading fails, after which another change may have it succeed.
        defer { notes?.note(range, order, behind: last) }
        while let recordKey = scan.recordKey {
            notes?.note(scan.deadline)
            guard try scan.withValue({ try body(recordKey, $0) }) else {
                if notes != nil { last = Array(recordKey) }
                return
            }
            try scan.moveToNext()
        }
    }

    func count(in range: RecordRange, upTo limit: Int) throws -> Int {
        // Some are counted before more than a few could be.
        if limit > 64, let count = try count(in: range) { return min(limit, count) }
        let scan = try view.scan(range, .ascending, limit: limit)
        var count = 0
        var last: [UInt8]?
        defer { notes?.note(range, .ascending, behind: last) }
        while count < limit, let recordKey = scan.recordKey {
            count += 1
            notes?.note(scan.deadline)
            if notes != nil, count == limit { last = Array(recordKey) }
            try scan.moveToNext()
        }
        return count
    }

    private func count(in range: RecordRange) throws -> Int? {
        guard let notes else { return try view.count(in: range) }
        return try notes.count(in: range, in: view)
    }

    func withValue<Result>(
        recordKey: [UInt8], in name: DictionaryName,
        _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result {
        if let notes { recordKey.withUnsafeBytes { notes.note(recordKey: $0, in: name) } }
        guard let found = try view.find(recordKey: recordKey, in: name) else {
            return try body(nil)
        }
        notes?.note(found.deadline)
        // What it owns keeps the bytes in place while they are used.
        return try found.withBytes { try body($0) }
    }
}

/// A moment of the store that notes whether any value that was read from it has a deadline.
struct ExpirySource: ObjectSource {
    private let source: ViewSource
    private(set) var hasFoundDeadline = false

    init(_ view: EngineView) { source = ViewSource(view: view) }

    func planningView() -> EngineView { source.view }
    func showsIndexes(of name: DictionaryName) -> Bool { true }
    var isWaitedFor: Bool { false }
    func noteMark(_ mark: [UInt8]) {}

    mutating func forEachRecord(
        in range: RecordRange, _ order: ScanOrder, expectedCount: Int,
        _ body: (_ recordKey: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws ->
            Bool
    ) throws {
        var hasFoundDeadline = hasFoundDeadline
        defer { self.hasFoundDeadline = hasFoundDeadline }
        try source.forEachRecord(in: range, order, expectedCount: expectedCount) { key, value in
            if Self.expires(value) { hasFoundDeadline = true }
            return try body(key, value)
        }
    }

    func count(in range: RecordRange, upTo limit: Int) throws -> Int {
        try source.count(in: range, upTo: limit)
    }

    mutating func withValue<Result>(
        recordKey: [UInt8], in name: DictionaryName,
        _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result {
        try source.withValue(recordKey: recordKey, in: name) { value in
            if let value, Self.expires(value) { hasFoundDeadline = true }
            return try body(value)
        }
    }

    /// When an object that was read expires. What has expired meanwhile goes at once.
    func deadline(of key: [UInt8], in name: DictionaryName) throws -> Deadline {
        try source.view.deadline(recordKey: name.prefix + key, in: name)
            ?? Deadline(milliseconds: 0)
    }

    private static func expires(_ value: UnsafeRawBufferPointer) -> Bool {
        !value.isEmpty && value[0] & ValueHeader.expiresFlag != 0
    }
}
