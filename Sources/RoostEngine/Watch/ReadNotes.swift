import RoostFormat
import Synchronization

/// What a read of a view looks at, noted while it goes on: so that it is known which later changes would have it
/// give something else.
///
/// - It has every key that was looked up and every range that was scanned, or more: of a read that looks at very
///   many, whole dictionaries stand for what comes after the first.
package final class ReadNotes: Sendable {
    private let reads: Mutex<TransactionReads>
    private let hashSeed: HashSeed

    private static let mostKeys = 1 << 14
    private static let mostRanges = 256

    package init(_ view: EngineView) {
        reads = Mutex(TransactionReads(view))
        hashSeed = view.hashSeed
    }

    package func note(_ key: String, in name: DictionaryName) {
        name.withRecordKey(key) { note(recordKey: $0, in: name) }
    }

    package func note(recordKey: UnsafeRawBufferPointer, in name: DictionaryName) {
        let hash = hashSeed.hash(recordKey)
        reads.withLock { reads in
            if reads.keys.count < Self.mostKeys {
                return reads.note(recordKey, hash: hash, in: name)
            }
            let whole = RecordRange(name)
            reads.note(whole, of: whole)
        }
    }

    package func note(_ range: RecordRange) {
        reads.withLock { reads in
            if reads.ranges.count < Self.mostRanges { return reads.note(range, of: range) }
            let whole = RecordRange(
                prefix: range.prefix, lower: range.prefix, upper: successor(ofPrefix: range.prefix))
            reads.note(whole, of: whole)
        }
    }

    /// Notes what a scan in this order has looked at when `last` was the last key that it gave; all of the range
    /// where that is `nil`.
    package func note(_ range: RecordRange, _ order: ScanOrder, behind last: [UInt8]?) {
        note(last.map { range.cut(behind: $0, order) } ?? range)
    }

    /// Notes that a value was there that is so only before `deadline`.
    package func note(_ deadline: Deadline) {
        if deadline != .never { reads.withLock { $0.note(deadline) } }
    }

    /// Notes the deadline that a stored value has in its header.
    package func note(deadlineOf value: UnsafeRawBufferPointer) {
        guard let first = value.first, first & ValueHeader.expiresFlag != 0,
            let header = ValueHeader(value)
        else { return }
        note(header.deadline)
    }

    /// Whether a key has a value in `view`.
    package func contains(
        _ key: String, _ name: DictionaryName, in view: EngineView
    ) throws -> Bool {
        note(key, in: name)
        guard let deadline = try view.deadline(of: key, name: name) else { return false }
        note(deadline)
        return true
    }

    /// How many keys a dictionary had.
    package func count(of name: DictionaryName, in view: EngineView) throws -> Int {
        note(RecordRange(name))
        let (count, deadline) = try view.countLive(in: name)
        note(deadline)
        return count
    }

    /// How many keys are in `range`, which is of one dictionary; `nil` where only a scan tells.
    package func count(in range: RecordRange, in view: EngineView) throws -> Int? {
        guard let (count, deadline) = try view.countLive(in: range) else { return nil }
        note(range)
        note(deadline)
        return count
    }

    /// What was looked at so far.
    package var seen: SeenReads { SeenReads(noted, hashSeed) }

    fileprivate var noted: TransactionReads { reads.withLock { $0 } }
}

/// What a read looked at. It does not refer to the view, which would keep the files that it began on.
package struct SeenReads: Sendable {
    private let keys: Set<TransactionReads.Key>
    private let ranges: Set<RecordRange>
    /// The dictionaries that were looked at, by prefix.
    package let dictionaries: Set<[UInt8]>
    /// When the first of the values that were there expires.
    package let earliestDeadline: Deadline
    private let hashSeed: HashSeed

    fileprivate init(_ reads: TransactionReads, _ hashSeed: HashSeed) {
        keys = reads.keys
        ranges = reads.ranges
        dictionaries = reads.dictionaries
        earliestDeadline = reads.earliestDeadline
        self.hashSeed = hashSeed
    }

    /// Whether any of the events may be about what was looked at. They are of the dictionary with this prefix.
    package func isTouched(by events: [WatchEvent], of dictionary: [UInt8]) -> Bool {
        guard dictionaries.contains(dictionary) else { return false }
        return events.contains { event in
            switch event.content {
            case .initial, .cleared, .missed: true
            case .changed(let operation):
                // Who could not read the key now reads again, and is told what is wrong.
                withExtendedLifetime(event.owner) {
                    do { try event.checkRead(operation) } catch { return true }
                    return isSeen(operation.key)
                }
            }
        }
    }

    private func isSeen(_ key: UnsafeRawBufferPointer) -> Bool {
        if ranges.contains(where: { $0.contains(key) }) { return true }
        if keys.isEmpty { return false }
        return keys.contains(.init(hash: hashSeed.hash(key), recordKey: Array(key)))
    }
}

/// A view for a read that is watched.
package struct ReadMoment: Sendable {
    package let view: EngineView
    /// What each watch had not told yet of the batches that are in the view.
    package let events: [[WatchEvent]]
    /// What the caller owes to others, whose writes were made on the way. It may call `onCommit` of live watches, so it
    /// is called with no lock held.
    package let afterwards: @Sendable () -> Void
}

extension Engine {
    /// A view without enqueued writes that have no place among the changes yet. Of the batches that are in it `watches`
    /// tell nothing any more, and all others.
    package func moment(of watches: [LiveWatch]) throws -> ReadMoment {
        try condition.checkOpen()
        return publication.withLock {
            let owed = foldCommitted()
            return feed.atOneMoment {
                ReadMoment(
                    view: viewOfFolded(hidesEnqueued: true),
                    events: watches.map { $0.takeReady().events }
                ) {
                    for (shard, afterwards) in owed { shard.tell(afterwards) }
                }
            }
        }
    }

    /// Whether nothing that was looked at has changed since the view began, which is still open. `false` also where
    /// that is not known.
    package func areCurrent(_ notes: ReadNotes) -> Bool {
        let (areCurrent, owed) = publication.withLock {
            // What is visible is in the tables then.
            let owed = foldCommitted()
            let parts = notes.noted.byShard(shards.map { _ in [] })
            let areCurrent = zip(shards, parts).allSatisfy { shard, part in
                guard let part else { return true }
                // Who could not read the log now reads again, and is told what is wrong.
                do { return try shard.areCurrent(part) } catch { return false }
            }
            return (areCurrent, owed)
        }
        for (shard, afterwards) in owed { shard.tell(afterwards) }
        return areCurrent
    }
}
