import RoostEngine
import RoostFormat

/// The entries of a part of a dictionary in the order of their keys' UTF-8 bytes, or against it.
///
/// Each iteration sees one moment, that of its first `next()` — of a ``ReadView``'s scan the
/// view's — and holds a read view until its end, or until its iterator goes. In memory are the
/// keys that stand in the log, sixteen bytes each, and a few hundred entries.
public struct EntrySequence<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = (key: String, value: Value)

    let scan: OrderedScan
    let codec: ValueCodec<Value>

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ScanPieces<Element>

        fileprivate init(_ sequence: EntrySequence) {
            let scan = sequence.scan
            let codec = sequence.codec
            pieces = ScanPieces(scan) { recordKey, stored in
                let key = String(decoding: recordKey, as: UTF8.self)
                return (key, try scan.dictionary.decode(stored: stored, key: key, codec))
            }
        }

        /// - Throws: `.typeMismatch`, `.decodingFailed`, `.corrupt`, `.closed`, `.cancelled`.
        public mutating func next() async throws -> Element? { try await pieces.next() }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// The keys of a part of a dictionary in the order of their UTF-8 bytes, or against it. Decodes and
/// decompresses no value. Else as ``EntrySequence``.
public struct KeySequence: AsyncSequence, Sendable {
    public typealias Element = String

    let scan: OrderedScan

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ScanPieces<String>

        fileprivate init(_ sequence: KeySequence) {
            pieces = ScanPieces(sequence.scan) { recordKey in
                String(decoding: recordKey, as: UTF8.self)
            }
        }

        /// - Throws: `.corrupt`, `.closed`, `.cancelled`.
        public mutating func next() async throws -> String? { try await pieces.next() }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// What a scan covers; nothing has been read yet.
struct OrderedScan: Sendable {
    let dictionary: WorkspaceDictionary
    /// Or what is wrong with the dictionary's name, which is thrown when the scan begins.
    let range: Result<RecordRange, any Error>
    let limit: Int
    let order: ScanOrder
    /// The moment to scan; the first `next()` where it is `nil`.
    let view: ReadView?

    func begin() throws -> ViewScan {
        let view = try view?.engineView ?? dictionary.workspace.engine.view()
        return try view.scan(try range.get(), order)
    }
}

/// Walks a scan a piece at a time, so that neither memory nor a thread of the pool is held for
/// long.
struct ScanPieces<Element> {
    private enum Make {
        case keys((UnsafeRawBufferPointer) -> Element)
        case entries((UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Element)
    }

    private let ordered: OrderedScan
    private let make: Make
    private var scan: ViewScan?
    private var remaining: Int
    private var isFinished = false
    /// The piece, the next element last. An element may expire while it waits its turn.
    private var piece: [(element: Element, deadline: Deadline)] = []
    /// What went wrong behind the piece.
    private var failure: (any Error)?

    private static var pieceCount: Int { 256 }
    private static var pieceSizeBytes: Int { 256 << 10 }

    init(_ ordered: OrderedScan, _ make: @escaping (UnsafeRawBufferPointer) -> Element) {
        self.ordered = ordered
        self.make = .keys(make)
        remaining = ordered.limit
    }

    init(
        _ ordered: OrderedScan,
        _ make: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Element
    ) {
        self.ordered = ordered
        self.make = .entries(make)
        remaining = ordered.limit
    }

    mutating func next() async throws -> Element? {
        if let element = popLive() { return element }
        if let failure { return try fail(failure) }
        if isFinished { return nil }
        try checkCancellation()
        // Others get their turn between two pieces.
        if scan != nil { await Task.yield() }
        while true {
            do { try fill() } catch {
                // What was read before it stays in order: the error comes behind.
                failure = error
                finish()
            }
            if let element = popLive() { return element }
            if let failure { return try fail(failure) }
            if isFinished { return nil }
        }
    }

    private mutating func popLive() -> Element? {
        let clock = ordered.dictionary.workspace.engine.clock
        while let (element, deadline) = piece.popLast() {
            if clock.isLive(deadline) { return element }
        }
        return nil
    }

    /// Behind its error the sequence has ended.
    private mutating func fail(_ error: any Error) throws -> Element? {
        failure = nil
        throw error
    }

    private mutating func finish() {
        isFinished = true
        scan = nil
        piece.reverse()
    }

    private mutating func fill() throws {
        let scan = try self.scan ?? ordered.begin()
        self.scan = scan
        let skipped = try ordered.range.get().prefix.count
        var sizeBytes = 0
        while piece.count < Self.pieceCount, sizeBytes < Self.pieceSizeBytes {
            guard remaining > 0, let recordKey = scan.recordKey else { return finish() }
            let key = UnsafeRawBufferPointer(rebasing: recordKey[skipped...])
            switch make {
            case .keys(let make): piece.append((make(key), scan.deadline))
            case .entries(let make):
                try scan.withValue { stored in
                    sizeBytes += stored.count
                    piece.append((try make(key, stored), scan.deadline))
                }
            }
            remaining -= 1
            try scan.moveToNext()
        }
        piece.reverse()
    }
}
