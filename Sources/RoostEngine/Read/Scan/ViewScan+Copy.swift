import RoostFormat

/// Records of a scan, copied one after another.
///
/// - Each is a word (the key's length in bits 0-30, bit 31 where a deadline follows, the value's
///   length above), the deadline's milliseconds where there is one, the key without its dictionary,
///   the value.
package enum CopiedRecord {
    package static let headerSizeBytes = 8
    @inlinable package static var deadlineBit: UInt64 { 1 << 31 }

    /// What was copied so far, and how much room the next record needs if it was too large.
    package struct Progress {
        package var count = 0
        package var sizeBytes = 0
        package var missingSizeBytes = 0

        package init() {}
    }
}

extension ViewScan {
    /// Copies the current record and those that follow into `target`, as long as it has room and
    /// `progress.count` is below `count`, and moves after them. `progress` holds also where an error
    /// is thrown.
    package func copyRecords(
        _ count: Int, withValues: Bool, into target: UnsafeMutableRawBufferPointer,
        _ progress: inout CopiedRecord.Progress
    ) throws {
        let before = progress
        let copied = Result { try copyEach(count, withValues: withValues, into: target, &progress) }
        do { try checkRead() } catch {
            // What was copied may be of a page that could not be read.
            progress = before
            throw error
        }
        try copied.get()
    }

    private func copyEach(
        _ count: Int, withValues: Bool, into target: UnsafeMutableRawBufferPointer,
        _ progress: inout CopiedRecord.Progress
    ) throws {
        guard let base = target.baseAddress else { return }
        let capacity = target.count
        while progress.count < count, let head = currentHead {
            let recordKey = head.pointee.key
            let key = UnsafeRawBufferPointer(rebasing: recordKey[(1 + Int(recordKey[0]))...])
            let expires = head.pointee.flags.contains(.expires)
            let valueCount = withValues ? try checkedValueCount() : 0
            let needed =
                CopiedRecord.headerSizeBytes + (expires ? 8 : 0) + key.count + valueCount
            guard needed <= capacity - progress.sizeBytes else {
                return progress.missingSizeBytes = needed
            }
            var place = base + progress.sizeBytes
            let word = UInt64(key.count) | UInt64(valueCount) << 32
            place.store(word | (expires ? CopiedRecord.deadlineBit : 0), at: 0)
            place += CopiedRecord.headerSizeBytes
            if expires {
                place.store(head.pointee.deadline.milliseconds, at: 0)
                place += 8
            }
            if let bytes = key.baseAddress { place.copyMemory(from: bytes, byteCount: key.count) }
            place += key.count
            if withValues {
                // What follows in the target is still to be filled.
                let roomCount = capacity - progress.sizeBytes - (needed - valueCount)
                try copyValue(to: .init(start: place, count: roomCount))
            }
            progress.sizeBytes += needed
            progress.count += 1
            try moveToNext()
        }
    }
}
