import RoostFormat
import RoostIO

/// Which way an ordered scan goes, by the bytes of the keys.
public enum ScanOrder: Sendable, Hashable {
    case ascending
    case descending
}

/// Steps through a snapshot's records in either direction, a group at a time. For one user at a
/// time.
///
/// - While `isAtEnd` is false, `records[index]` is the current record and `key` its whole key;
///   both are valid until the next step.
package final class SnapshotWalker {
    package let snapshot: SnapshotReader
    private let order: ScanOrder
    private var records: [RecordGroup.Record] = []
    /// The group's keys, whole, one behind another, from `firstKeyBegin`; the end of each.
    private var keys = OutputBuffer(capacity: 4096)
    private var firstKeyBegin = 0
    private var keyEnds: [Int] = []
    private var group = 0
    private var index = 0
    private var readAhead = SnapshotReadAhead()

    package private(set) var isAtEnd = true

    package init(_ snapshot: SnapshotReader, _ order: ScanOrder) {
        self.snapshot = snapshot
        self.order = order
        records.reserveCapacity(RecordGroup.maximumRecordCount)
        keyEnds.reserveCapacity(RecordGroup.maximumRecordCount)
    }

    package var record: RecordGroup.Record { records[index] }
    package var sequence: UInt64 { records[index].sequence }
    package var isPut: Bool { records[index].isPut }
    package var deadline: Deadline { records[index].deadline }

    package var key: UnsafeRawBufferPointer {
        let begin = index == 0 ? firstKeyBegin : keyEnds[index - 1]
        return .init(start: keys.base + begin, count: keyEnds[index] - begin)
    }

    /// Moves to the record nearest to `bound` in the walk's direction: ascending the first that is
    /// not before it, descending the last that is before it. `nil` is the last end of all. Fast
    /// where it is about a key of the dictionary `prefix`.
    package func move(to bound: UnsafeRawBufferPointer?, in prefix: [UInt8] = []) throws {
        readAhead = .init()
        guard let bound else {
            try open(max(0, snapshot.groupCount - 1))
            if order == .ascending { isAtEnd = true }
            return
        }
        try open(try snapshot.group(for: bound, in: prefix))
        switch order {
        case .ascending: while !isAtEnd, compareBytes(key, bound) < 0 { try moveToNext() }
        case .descending: while !isAtEnd, compareBytes(key, bound) >= 0 { try moveToNext() }
        }
    }

    @inline(__always)
    package func moveToNext() throws {
        switch order {
        case .ascending:
            if index + 1 < records.count { return index += 1 }
            if group + 1 < snapshot.groupCount { return try open(group + 1) }
        case .descending:
            if index > 0 { return index -= 1 }
            if group > 0 { return try open(group - 1) }
        }
        isAtEnd = true
    }

    /// Decodes a group whole and moves to its first record in the walk's direction.
    @inline(never)
    private func open(_ number: Int) throws {
        group = number
        let bytes = try snapshot.group(number)
        readAhead.note(bytes, of: snapshot, order)
        records.removeAll(keepingCapacity: true)
        keyEnds.removeAll(keepingCapacity: true)
        keys.count = 0
        snapshot.footer.firstKey.withBytes { keys.append($0) }
        firstKeyBegin = keys.count
        var cursor = try snapshot.cursor(bytes)
        var begin = 0
        while !cursor.isAtEnd {
            guard let record = cursor.next() else {
                throw snapshot.damaged("a group's records make no sense", at: bytes.baseAddress!)
            }
            let count = record.shared + record.suffix.count
            let target = keys.reserve(count)
            target.copyMemory(from: keys.base + begin, byteCount: record.shared)
            if let suffix = record.suffix.baseAddress {
                (target + record.shared).copyMemory(from: suffix, byteCount: record.suffix.count)
            }
            begin = keys.count
            keys.count += count
            keyEnds.append(keys.count)
            records.append(record)
        }
        index = order == .ascending ? 0 : records.count - 1
        isAtEnd = false
    }
}
