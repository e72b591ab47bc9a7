import RoostEngine
import RoostFormat
import RoostIO

/// Makes the entries of an index for the objects that are there, a piece at a time.
///
/// - A piece has the entries of its objects as they were in one view, and is committed together with how
///   far the building is: so it goes on where it was after a crash. Writers go on meanwhile. What they
///   change of an object's entries they write themselves, so an entry that was written or removed since
///   the view began is left as it is; every other is as the view has it. docs/decisions/0201.
/// - A piece rests on the mark. Where a write went round the index, the mark is gone, and so is the
///   piece.
/// - It rests on objects too where their entries alone do not tell that they changed: `restsOnObjects`,
///   `noteIfEnqueued`.
struct IndexBuilding<Item: Sendable> {
    enum Outcome { case built, failed, marked, left }

    private let active: IndexSet<Item>.Active
    private let objects: IndexedObjects<Item>
    /// Whether nobody has the workspace any more: the building goes on at the next opening.
    private let isLeft: @Sendable () -> Bool
    private var pieceCount: Int { objects.engine.configuration.indexPieceCount }
    private static var firstPieceCount: Int { 256 }
    private static var pieceSizeBytes: Int { 4 << 20 }

    init(
        _ active: IndexSet<Item>.Active, _ objects: IndexedObjects<Item>,
        isLeft: @escaping @Sendable () -> Bool
    ) {
        self.active = active
        self.objects = objects
        self.isLeft = isLeft
    }

    func run() async throws -> Outcome {
        // Each step waits for the processor some times, beside busy writers; so they grow. Fewer objects
        // are less likely to be changed meanwhile.
        var count = min(Self.firstPieceCount, pieceCount)
        while true {
            try checkCancellation()
            if isLeft() { return .left }
            switch try await buildPiece(count) {
            case .done(let outcome?): return outcome
            case .done: count = min(count * 2, pieceCount)
            case .conflict: count = max(count / 2, 1)
            }
            await Task.yield()
        }
    }

    private enum Step {
        case done(Outcome?)
        case conflict
    }

    private func buildPiece(_ count: Int) async throws -> Step {
        let engine = objects.engine
        let view = try engine.view()
        defer { view.close() }
        var piece = IndexPiece(active, objects, view)
        let progress: IndexCatalog.Progress
        switch try IndexCatalog.progress(active.mark, view) {
        case nil: return .done(.marked)
        case .built: return .done(.built)
        case .failed: return .done(.failed)
        case .building(let cursor):
            progress = try piece.add(after: cursor, count, Self.pieceSizeBytes)
        }
        guard try await commit(piece, progress, view) else { return .conflict }
        switch progress {
        case .building: return .done(nil)
        case .built: return .done(.built)
        case .failed: return .done(.failed)
        }
    }
}

extension IndexBuilding {
    /// `false`, with nothing changed, where the piece has to be made again.
    private func commit(
        _ piece: IndexPiece<Item>, _ progress: IndexCatalog.Progress, _ view: EngineView
    ) async throws -> Bool {
        let engine = objects.engine
        let (entries, reads) = piece.finish(progress)
        var lastCount: Int?
        while let kept = engine.withoutOvertaken(entries, since: view),
            kept.changes.count != lastCount
        {
            var batch = kept
            batch.write(progress.stored, recordKey: active.mark, in: IndexCatalog.name)
            if try await engine.commit(batch, reads: reads, durability: .process) != nil {
                return true
            }
            // More may have been overtaken between the look and the commit. If not, it was something else.
            lastCount = kept.changes.count
        }
        return false
    }
}

/// One piece of a building.
private struct IndexPiece<Item: Sendable> {
    private let active: IndexSet<Item>.Active
    private let objects: IndexedObjects<Item>
    private let view: EngineView
    private var batch: EncodedBatch
    private var reads: TransactionReads
    /// How much of a key a failure shows, in characters.
    private static var shownKeyCount: Int { 200 }
    /// The objects of the values that must be unique, of this piece.
    private var holders: [[UInt8]: [UInt8]] = [:]

    init(
        _ active: IndexSet<Item>.Active, _ objects: IndexedObjects<Item>, _ view: EngineView
    ) {
        self.active = active
        self.objects = objects
        self.view = view
        batch = EncodedBatch(hashSeed: view.hashSeed)
        reads = TransactionReads(view)
        reads.note(recordKey: active.mark, in: IndexCatalog.name)
        reads.note(active.entries)
        reads.includesChanges = true
    }

    /// Adds the entries of up to `count` objects after `cursor`; how far the index is then.
    mutating func add(
        after cursor: [UInt8]?, _ count: Int, _ sizeBytes: Int
    ) throws -> IndexCatalog.Progress {
        let name = objects.name
        reads.note(name)
        let lower = cursor.map { $0 + [0] } ?? []
        let range = RecordRange(name, lower: lower, upper: nil)
        let scan = try view.scan(range, .ascending, limit: count)
        var last: [UInt8]?
        var added = 0
        var readBytes = 0
        while let recordKey = scan.recordKey {
            let recordKey = Array(recordKey)
            let key = Array(recordKey[name.prefix.count...])
            let deadline = scan.deadline
            let failure = try scan.withValue { stored in
                readBytes += stored.count
                return try add(key, stored, deadline)
            }
            if restsOnObjects || failure != nil { reads.note(recordKey: recordKey, in: name) }
            if let failure { return .failed(failure) }
            last = key
            added += 1
            if added == count || readBytes >= sizeBytes {
                noteIfEnqueued(range, behind: recordKey)
                return .building(after: last)
            }
            try scan.moveToNext()
        }
        noteIfEnqueued(range, behind: nil)
        return .built
    }

    /// Whether the objects have to be as they were: where values must be unique, as another object that has
    /// one of them is a failure.
    private var restsOnObjects: Bool { active.index.isUnique }

    /// Of enqueued writes some may be given up, and then nobody writes an entry: what they put may not be there, and what
    /// they remove may be, though no scan shows it. So all that was looked at has to be as it was.
    private mutating func noteIfEnqueued(_ range: RecordRange, behind last: [UInt8]?) {
        if view.hasEnqueued { reads.note(scanned: range, .ascending, behind: last) }
    }

    /// Adds the entries of one object; why that cannot be, where it cannot.
    private mutating func add(
        _ key: [UInt8], _ stored: UnsafeRawBufferPointer, _ deadline: Deadline
    ) throws -> String? {
        let text = String(decoding: key, as: UTF8.self)
        let item: Item
        do { item = try objects.decode(stored, key: text) } catch {
            return "\(error)"
        }
        let entries: [IndexEntry]
        do {
            entries = try withUnsafePointer(to: item) { try active.index.entries(of: $0) }
            for entry in entries {
                try checkIndexKeySize(entry.keySizeBytes(key), active.index.name)
            }
        } catch { return "of \"\(text.prefix(Self.shownKeyCount))\": \(error)" }
        for entry in entries {
            if active.index.isUnique, let other = try holder(of: entry, but: key) {
                return NotUnique.error(
                    active.index.name, text, String(decoding: other, as: UTF8.self)
                ).message
            }
            let entryKey = entry.key(key)
            batch.write(
                entry.value(key).with(deadline: deadline),
                recordKey: active.entries.prefix + entryKey, in: active.entries)
        }
        return nil
    }

    /// The other object that has a value that is to be unique.
    private mutating func holder(of entry: IndexEntry, but key: [UInt8]) throws -> [UInt8]? {
        guard entry.isSole else { return nil }
        if let other = holders.updateValue(key, forKey: entry.form), other != key { return other }
        let recordKey = active.entries.prefix + entry.form
        reads.note(recordKey: recordKey, in: active.entries)
        guard let found = try view.find(recordKey: recordKey, in: active.entries) else {
            return nil
        }
        let other = try found.withBytes { indexedObjectKey(inValue: $0) }
        return other == key ? nil : other
    }

    /// The entries, and what they rest on.
    func finish(_ progress: IndexCatalog.Progress) -> (EncodedBatch, TransactionReads) {
        if case .failed = progress { return (EncodedBatch(hashSeed: view.hashSeed), reads) }
        return (batch, reads)
    }
}

/// The object's key in the value of an entry whose key has none.
func indexedObjectKey(inValue stored: UnsafeRawBufferPointer) -> [UInt8] {
    guard let header = ValueHeader(stored) else { return [] }
    return Array(stored[header.sizeBytes...])
}

func checkIndexKeySize(_ sizeBytes: Int, _ index: String) throws {
    guard sizeBytes > Limits.keySizeBytes else { return }
    throw RoostError(
        .keyTooLarge,
        "an entry of index \"\(index)\" would have \(sizeBytes) bytes; up to \(Limits.keySizeBytes) are allowed"
    )
}
