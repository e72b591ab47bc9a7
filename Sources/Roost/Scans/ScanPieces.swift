import Foundation
import RoostEngine
import RoostFormat

// The pieces of the public sequences.

/// Keys, as bytes.
private struct KeyPiece: ScanPiece {
    private var flat = FlatPiece()
    var isEmpty: Bool { flat.isEmpty }

    mutating func fill(from scan: ViewScan, count: Int) throws -> Int {
        try flat.fill(from: scan, count: count, withValues: false)
    }

    @inline(__always)
    mutating func next(_ feed: ScanFeed) -> String? {
        flat.next(feed).map { flat.key(of: $0) }
    }
}

/// An iteration over keys: makes each of the piece's bytes, and has the next piece filled.
@usableFromInline
struct KeyPieces: Sendable {
    private var piece = KeyPiece()
    private let feed: ScanFeed

    init(_ ordered: OrderedScan) { feed = ScanFeed(ordered) }

    /// The next key of the piece; `nil` where none is left.
    @usableFromInline
    mutating func next() -> String? { piece.next(feed) }

    @usableFromInline
    nonisolated(nonsending) mutating func nextOfNextPiece() async throws -> String? {
        while true {
            let spent = piece
            piece = KeyPiece()
            guard let filled = try await feed.nextPiece(behind: consume spent) else { return nil }
            piece = filled
            if let key = next() { return key }
        }
    }
}

/// Entries whose values have a form that costs nothing to decode, as bytes.
private struct FlatEntryPiece: ScanPiece {
    var flat = FlatPiece()
    /// Whether no value has to be migrated.
    var isPlain = false
    var isEmpty: Bool { flat.isEmpty }

    mutating func fill(from scan: ViewScan, count: Int) throws -> Int {
        try flat.fill(from: scan, count: count, withValues: true)
    }
}

/// An iteration over entries: those of a fixed form are made of the piece's bytes one by one, others
/// are decoded with their piece.
@usableFromInline
struct EntryPieces<Value: Sendable>: Sendable {
    @usableFromInline typealias Element = (key: String, value: Value)

    @usableFromInline let isFlat: Bool
    private var flat = FlatEntryPiece()
    @usableFromInline var decoded: DecodedPiece<Value>
    private let feed: ScanFeed
    private let codec: ValueCodec<Value>

    init(_ ordered: OrderedScan, _ codec: ValueCodec<Value>) {
        feed = ScanFeed(ordered)
        self.codec = codec
        isFlat = FixedForm.kind(of: Value.self) != nil
        decoded = DecodedPiece(ordered.dictionary, codec)
    }

    /// The next entry of a flat piece; `nil` where none is left.
    ///
    /// Inlined, so that the caller's compiler picks the form: at run time the type would be looked up
    /// for each entry.
    @inlinable @inline(__always)
    mutating func nextFlat() throws -> Element? {
        if Value.self == [UInt8].self { return try nextBytes().map { ($0, $1 as! Value) } }
        if Value.self == String.self { return try nextString().map { ($0, $1 as! Value) } }
        if Value.self == Data.self { return try nextData().map { ($0, $1 as! Value) } }
        if Value.self == Int.self { return try nextInt().map { ($0, $1 as! Value) } }
        if Value.self == Double.self { return try nextDouble().map { ($0, $1 as! Value) } }
        return try nextOther()
    }

    @usableFromInline
    mutating func nextBytes() throws -> (String, [UInt8])? {
        // Not by the type, which would be looked up.
        try next { stored in
            guard stored.first == ValueKind.bytes.rawValue else { return nil }
            return [UInt8](UnsafeRawBufferPointer(rebasing: stored[1...]))
        }
    }
    @usableFromInline
    mutating func nextString() throws -> (String, String)? {
        try next { FixedForm.value(stored: $0, as: String.self) }
    }
    @usableFromInline
    mutating func nextData() throws -> (String, Data)? {
        try next { FixedForm.value(stored: $0, as: Data.self) }
    }
    @usableFromInline
    mutating func nextInt() throws -> (String, Int)? {
        try next { FixedForm.value(stored: $0, as: Int.self) }
    }
    @usableFromInline
    mutating func nextDouble() throws -> (String, Double)? {
        try next { FixedForm.value(stored: $0, as: Double.self) }
    }
    @usableFromInline
    mutating func nextOther() throws -> Element? {
        try next { FixedForm.value(stored: $0, as: Value.self) }
    }

    /// `Form` is `Value`.
    @inline(__always)
    private mutating func next<Form>(
        _ fixed: (_ stored: UnsafeRawBufferPointer) -> Form?
    ) throws -> (String, Form)? {
        guard let record = flat.flat.next(feed) else { return nil }
        let key = flat.flat.key(of: record)
        if flat.isPlain {
            if let value = flat.flat.withValue(of: record, fixed) { return (key, value) }
        }
        return (key, try decode(record, key) as! Form)
    }

    @inline(never)
    private mutating func decode(_ record: FlatPiece.Record, _ key: String) throws -> Value {
        do {
            return try flat.flat.withValue(of: record) {
                try feed.ordered.dictionary.decode(stored: $0, key: key, codec)
            }
        } catch {
            flat.flat.removeAll()
            feed.finish()
            throw error
        }
    }

    /// The next entry where the piece has none.
    @usableFromInline
    nonisolated(nonsending) mutating func nextOfNextPiece() async throws -> Element? {
        while true {
            if isFlat {
                let spent = flat
                flat = FlatEntryPiece()
                guard let filled = try await feed.nextPiece(behind: consume spent) else {
                    return nil
                }
                flat = filled
                flat.isPlain = feed.ordered.dictionary.workspace.migrations.isEmpty
                if let entry = try nextFlat() { return entry }
            } else {
                if let entry = decoded.nextExpiring(feed.clock) { return entry }
                let spent = decoded
                decoded = DecodedPiece(feed.ordered.dictionary, codec)
                guard let filled = try await feed.nextPiece(behind: consume spent) else {
                    return nil
                }
                decoded = filled
                if let entry = decoded.entries.popLast() { return entry }
            }
        }
    }
}

/// Entries whose values were decoded off the caller's actor, the next one last.
@usableFromInline
struct DecodedPiece<Value: Sendable>: ScanPiece {
    @usableFromInline var entries: [(key: String, value: Value)] = []
    /// Instead of `entries` where one of them has a deadline: it may expire while it waits its turn.
    private var expiring: [(entry: (key: String, value: Value), deadline: Deadline)] = []
    private let dictionary: WorkspaceDictionary
    private let codec: ValueCodec<Value>

    /// A piece ends with the value that takes it past this.
    private static var limitSizeBytes: Int { 256 << 10 }

    init(_ dictionary: WorkspaceDictionary, _ codec: ValueCodec<Value>) {
        self.dictionary = dictionary
        self.codec = codec
    }

    var isEmpty: Bool { entries.isEmpty && expiring.isEmpty }
    private var count: Int { entries.count + expiring.count }

    /// The next entry where `entries` has none.
    mutating func nextExpiring(_ clock: ExpiryClock) -> (key: String, value: Value)? {
        while let (entry, deadline) = expiring.popLast() {
            if clock.isLive(deadline) { return entry }
        }
        return nil
    }

    mutating func fill(from scan: ViewScan, count: Int) throws -> Int {
        entries.reserveCapacity(count)
        var sizeBytes = 0
        defer {
            entries.reverse()
            expiring.reverse()
        }
        while self.count < count, sizeBytes < Self.limitSizeBytes, let recordKey = scan.recordKey {
            let key = String(
                decoding: UnsafeRawBufferPointer(rebasing: recordKey[(1 + Int(recordKey[0]))...]),
                as: UTF8.self)
            let value = try scan.withValue { stored in
                sizeBytes += stored.count
                return try dictionary.decode(stored: stored, key: key, codec)
            }
            append((key, value), scan.deadline)
            try scan.moveToNext()
        }
        return self.count
    }

    private mutating func append(_ entry: (key: String, value: Value), _ deadline: Deadline) {
        if deadline == .never, expiring.isEmpty { return entries.append(entry) }
        if expiring.isEmpty {
            expiring = entries.map { ($0, .never) }
            entries = []
        }
        expiring.append((entry, deadline))
    }
}
