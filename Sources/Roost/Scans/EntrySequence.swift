import RoostEngine
import RoostFormat

/// The entries of a part of a dictionary in the order of their keys' UTF-8 bytes, or against it.
///
/// Each iteration sees one moment, that of its first `next()` — of a ``ReadView``'s scan the
/// view's — and holds a read view until its end, or until its iterator goes. A few hundred entries
/// are in memory at a time; beside them the workspace keeps the keys of scanned dictionaries that
/// stand in the log in order, some twenty bytes each, until they are flushed.
///
/// The first scan of a dictionary sorts its keys in the log, and a later one those that came since.
/// `next()` suspends once for some hundred entries.
public struct EntrySequence<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = (key: String, value: Value)

    let scan: OrderedScan
    let codec: ValueCodec<Value>

    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline var pieces: EntryPieces<Value>

        fileprivate init(_ sequence: EntrySequence) {
            pieces = EntryPieces(sequence.scan, sequence.codec)
        }

        /// - Throws: `.typeMismatch`, `.decodingFailed`, `.unsupportedVersion`, `.corrupt`, `.io`, `.closed`, `.cancelled`.
        @inlinable
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Element? {
            if pieces.isFlat {
                if let element = try pieces.nextFlat() { return element }
            } else if let element = pieces.decoded.entries.popLast() {
                return element
            }
            return try await pieces.nextOfNextPiece()
        }

        /// As `next(isolation:)`.
        @inlinable
        public mutating func next() async throws -> Element? { try await next(isolation: nil) }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// The keys of a part of a dictionary in the order of their UTF-8 bytes, or against it. Decodes and
/// decompresses no value. Else as ``EntrySequence``.
public struct KeySequence: AsyncSequence, Sendable {
    public typealias Element = String

    let scan: OrderedScan

    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline var pieces: KeyPieces

        fileprivate init(_ sequence: KeySequence) { pieces = KeyPieces(sequence.scan) }

        /// - Throws: `.corrupt`, `.io`, `.closed`, `.cancelled`.
        @inlinable
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> String? {
            if let element = pieces.next() { return element }
            return try await pieces.nextOfNextPiece()
        }

        /// As `next(isolation:)`.
        @inlinable
        public mutating func next() async throws -> String? { try await next(isolation: nil) }
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
        return try view.scan(try range.get(), order, limit: limit)
    }
}
