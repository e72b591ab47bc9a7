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
    /// The group's keys, whole, one behind another; the end of each.
    private var keys = OutputBuffer(capacity: 4096)
    private var keyEnds: [Int] = []
    private var group = 0
    private var index = 0
    /// Groups walked through since the last seek, and where reading ahead has got to.
    private var walkedCount = 0
    private var aheadEnd = 0

    package private(set) var isAtEnd = true

    /// A long walk asks for this much before it comes there.
    private static let aheadSizeBytes = 512 << 10

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
        let begin = index == 0 ? 0 : keyEnds[index - 1]
        return .init(start: keys.base + begin, count: keyEnds[index] - begin)
    }

    /// Moves to the record nearest to `bound` in the walk's direction: ascending the first that is
    /// not before it, descending the last that is before it. `nil` is the last end of all. Fast
    /// where it is about a key of the dictionary `prefix`.
    package func move(to bound: UnsafeRawBufferPointer?, in prefix: [UInt8] = []) throws {
        walkedCount = 0
        aheadEnd = 0
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

    /// Calls `body` with the records of the group from the current one on in the walk's direction,
    /// and stands on the last of them then. The keys are valid until the next step.
    package func passGroup(_ body: (UnsafeRawBufferPointer, RecordGroup.Record) -> Void) {
        if isAtEnd { return }
        let last = order == .ascending ? records.count - 1 : 0
        while true {
            body(key, records[index])
            if index == last { return }
            index += order == .ascending ? 1 : -1
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
        readAhead(bytes)
        records.removeAll(keepingCapacity: true)
        keyEnds.removeAll(keepingCapacity: true)
        keys.count = 0
        guard var cursor = RecordGroup.Cursor(bytes) else {
            throw snapshot.damaged("a group's header makes no sense", at: bytes.baseAddress!)
        }
        var begin = 0
        while !cursor.isAtEnd {
            guard let record = cursor.next(), record.shared <= keys.count - begin else {
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

    /// The kernel was told to expect random reads; a walk that goes on says otherwise.
    private func readAhead(_ group: UnsafeRawBufferPointer) {
        walkedCount += 1
        guard walkedCount > 8 else { return }
        let offset = group.baseAddress! - UnsafeRawPointer(snapshot.region.base)
        let size = Self.aheadSizeBytes
        switch order {
        case .ascending:
            guard offset + size / 2 > aheadEnd else { return }
            let begin = max(offset, aheadEnd)
            snapshot.region.readAhead(offset: begin, sizeBytes: size)
            aheadEnd = begin + size
        case .descending:
            if walkedCount == 9 { aheadEnd = offset }
            guard offset - size / 2 < aheadEnd, aheadEnd > 0 else { return }
            let begin = max(0, aheadEnd - size)
            snapshot.region.readAhead(offset: begin, sizeBytes: aheadEnd - begin)
            aheadEnd = begin
        }
    }
}
