import RoostFormat
import RoostIO

/// Steps through a snapshot's records in key order. For one user at a time.
///
/// - While `record` is not `nil`, `key` is its whole key; both are valid until the next step.
package final class SnapshotCursor {
    package let snapshot: SnapshotReader
    package private(set) var record: RecordGroup.Record?
    private var keyBuffer = OutputBuffer(capacity: 256)
    private var nextGroup = 0
    /// Whose records `cursor` steps through.
    private var group = UnsafeRawBufferPointer(start: nil, count: 0)
    private var cursor: RecordGroup.Cursor?

    package init(_ snapshot: SnapshotReader) { self.snapshot = snapshot }

    package var key: UnsafeRawBufferPointer { keyBuffer.bytes }

    /// Moves to the first record.
    package func moveToFirst() throws {
        nextGroup = 0
        cursor = nil
        try moveToNext()
    }

    /// Moves to the first record whose key is not before `target`.
    package func move(to target: UnsafeRawBufferPointer) throws {
        // The last group that begins at or before the target is the only one that may hold it.
        var low = 0
        var high = snapshot.groupCount
        while low < high {
            let middle = (low + high) / 2
            if try snapshot.compareFirstKey(ofGroup: middle, to: target) <= 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        nextGroup = max(0, low - 1)
        cursor = nil
        try moveToNext()
        while record != nil && compareBytes(key, target) < 0 { try moveToNext() }
    }

    /// Moves to the next record; `record` is `nil` after the last.
    package func moveToNext() throws {
        if cursor == nil || cursor!.isAtEnd {
            // What was seen of the last one counts only where all of it was there.
            try snapshot.checkRead(group)
            guard nextGroup < snapshot.groupCount else {
                record = nil
                return
            }
            group = try snapshot.group(nextGroup)
            cursor = try snapshot.cursor(group)
            nextGroup += 1
            keyBuffer.count = 0
            snapshot.footer.firstKey.withBytes { keyBuffer.append($0) }
        }
        guard let next = cursor!.next() else {
            throw snapshot.damaged("a group's records make no sense", at: group.baseAddress!)
        }
        keyBuffer.count = next.shared
        keyBuffer.append(next.suffix)
        record = next
    }
}
