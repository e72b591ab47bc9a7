import Foundation
import RoostEngine
import RoostFormat
import Synchronization

/// An iteration of a scan: hands out a piece, and has the next one filled where nobody is waited
/// for.
@usableFromInline
struct ScanPieces<Element: Sendable>: Sendable {
    /// What is left of the piece, the next element last.
    @usableFromInline var elements: [Element] = []
    /// The same of a piece that holds values with a deadline: they may expire while they wait their
    /// turn.
    private var expiring: [(element: Element, deadline: Deadline)] = []
    private let feed: ScanFeed<Element>

    init(_ ordered: OrderedScan, _ fill: @escaping ScanFeed<Element>.Fill) {
        feed = ScanFeed(ordered, fill)
    }

    /// The next element where `elements` has none.
    @usableFromInline
    nonisolated(nonsending) mutating func nextOfNextPiece() async throws -> Element? {
        while true {
            while let (element, deadline) = expiring.popLast() {
                if feed.clock.isLive(deadline) { return element }
            }
            guard let piece = try await feed.nextPiece() else { return nil }
            elements = piece.elements
            expiring = piece.expiring
            if let element = elements.popLast() { return element }
        }
    }
}

/// Some elements of a scan, the next one last.
struct ScanPiece<Element: Sendable>: Sendable {
    fileprivate(set) var elements: [Element] = []
    /// Instead of `elements` where one of them has a deadline.
    fileprivate(set) var expiring: [(element: Element, deadline: Deadline)] = []
    fileprivate var sizeBytes = 0

    fileprivate var isEmpty: Bool { elements.isEmpty && expiring.isEmpty }
    fileprivate var count: Int { elements.count + expiring.count }

    @inline(__always)
    fileprivate mutating func append(_ element: Element, _ deadline: Deadline) {
        if deadline == .never, expiring.isEmpty { return elements.append(element) }
        appendExpiring(element, deadline)
    }

    @inline(never)
    private mutating func appendExpiring(_ element: Element, _ deadline: Deadline) {
        if expiring.isEmpty {
            expiring = elements.map { ($0, .never) }
            elements = []
        }
        expiring.append((element, deadline))
    }

    fileprivate mutating func reverse() {
        elements.reverse()
        expiring.reverse()
    }
}

/// Walks a scan a piece at a time, so that neither memory nor a thread of the pool is held for
/// long.
///
/// - Its mutex is held while a piece is filled. Only copies of one iterator meet there.
final class ScanFeed<Element: Sendable>: Sendable {
    /// Makes a piece of what the scan has, at most so many elements, also where it throws.
    typealias Fill =
        @Sendable (inout ScanPiece<Element>, ViewScan, _ count: Int) throws -> Void

    private struct State {
        /// Begun by the first piece; `nil` again at the end, so that the view goes.
        var scan: ViewScan?
        var remaining: Int
        var pieceCount = 32
        /// Since others had their turn.
        var takenCount = 0
        var isFinished = false
        /// What went wrong behind the last piece.
        var failure: (any Error)?
    }

    private let ordered: OrderedScan
    private let fill: Fill
    private let state: Mutex<State>

    private static var largestPieceCount: Int { 512 }

    init(_ ordered: OrderedScan, _ fill: @escaping Fill) {
        self.ordered = ordered
        self.fill = fill
        state = Mutex(State(remaining: ordered.limit, isFinished: ordered.limit == 0))
    }

    var clock: ExpiryClock { ordered.dictionary.workspace.engine.clock }

    /// The next elements, one at least; `nil` at the end. Never on the caller's actor.
    func nextPiece() async throws -> ScanPiece<Element>? {
        try checkCancellation()
        if isYieldDue() { await Task.yield() }
        return try filled()
    }

    /// Others get their turn once in a millisecond or so: it costs another thread's waking, and on
    /// a busy machine its waiting, as long as hundreds of elements.
    private func isYieldDue() -> Bool {
        state.withLock { state in
            guard state.takenCount >= 4096 else { return false }
            state.takenCount = 0
            return true
        }
    }

    private func filled() throws -> ScanPiece<Element>? {
        try state.withLock { state in
            if let failure = state.failure {
                // Behind its error the sequence has ended.
                state.failure = nil
                throw failure
            }
            if state.isFinished { return nil }
            var piece = ScanPiece<Element>()
            do {
                let scan = try state.scan ?? ordered.begin()
                state.scan = scan
                let wanted = min(state.pieceCount, state.remaining)
                try fill(&piece, scan, wanted)
                state.remaining -= piece.count
                state.takenCount += piece.count
                state.pieceCount = min(state.pieceCount * 2, Self.largestPieceCount)
                if state.remaining == 0 || scan.recordKey == nil { state.isFinished = true }
            } catch {
                state.isFinished = true
                if piece.isEmpty {
                    state.scan = nil
                    throw error
                }
                // What was read before it stays in order: the error comes behind.
                state.failure = error
            }
            if state.isFinished { state.scan = nil }
            return piece.isEmpty ? nil : piece
        }
    }
}

/// A piece ends with the value that takes it past this.
private let pieceSizeBytes = 256 << 10

func fillKeys(_ piece: inout ScanPiece<String>, _ scan: ViewScan, _ count: Int) throws {
    piece.elements.reserveCapacity(count)
    defer { piece.reverse() }
    while piece.count < count, let recordKey = scan.recordKey {
        piece.append(scanKey(recordKey), scan.deadline)
        try scan.moveToNext()
    }
}

/// Once for each of the types that are often scanned: the general form looks up what it needs to
/// know of the type for every value.
@_specialize(where Value == [UInt8])
@_specialize(where Value == Data)
@_specialize(where Value == String)
@_specialize(where Value == Int)
@_specialize(where Value == Double)
func fillEntries<Value: Sendable>(
    _ piece: inout ScanPiece<(key: String, value: Value)>, _ scan: ViewScan, _ count: Int,
    _ dictionary: WorkspaceDictionary, _ codec: ValueCodec<Value>
) throws {
    piece.elements.reserveCapacity(count)
    // Here, where the type is known.
    defer { piece.reverse() }
    while piece.count < count, piece.sizeBytes < pieceSizeBytes, let recordKey = scan.recordKey {
        let key = scanKey(recordKey)
        let stored = try scan.value()
        piece.sizeBytes += stored.count
        let value = try dictionary.decode(stored: stored, key: key, codec)
        piece.append((key, value), scan.deadline)
        try scan.moveToNext()
    }
}

/// The key behind the dictionary's name.
@inline(__always)
private func scanKey(_ recordKey: UnsafeRawBufferPointer) -> String {
    String(
        decoding: UnsafeRawBufferPointer(rebasing: recordKey[(1 + Int(recordKey[0]))...]),
        as: UTF8.self)
}
