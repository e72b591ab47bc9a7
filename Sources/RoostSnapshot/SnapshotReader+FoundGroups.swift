import RoostFormat
import RoostIO

/// Groups of a file that has lost what says where they are.
///
/// - Each stands behind the one before it. Behind a damaged one the next is looked for: what looks like a group, and
///   whose checksum holds as that of a group with a higher number.
extension SnapshotReader {
    private static let leastGroupSizeBytes = 16
    /// So many bytes are put through checksums in all: damage must not look like groups for hours.
    private static let checkedSizeBytes = 1 << 34

    func forEachFoundGroup(_ body: (SalvagedGroup) -> Void) {
        var budget = Self.checkedSizeBytes
        var (index, offset) = (0, Int(footer.groupsOffset))
        var count: UInt64 = 0
        while footer.recordCount == 0 || count < footer.recordCount {
            guard let found = firstGroup(index, from: offset, &budget) else {
                let error = RoostError(
                    .corrupt, "from here on no records are found, and neither is the file's footer",
                    file: path, offset: UInt64(offset))
                return body(.damaged(offset: UInt64(offset), error))
            }
            if found.offset > offset {
                body(
                    .damaged(
                        offset: UInt64(offset),
                        damaged("a group's checksum does not hold", at: region.base + offset)))
            }
            body(.intact(found.group, index: found.index, offset: found.offset))
            count += UInt64(found.recordCount)
            index = found.index + 1
            offset = Self.end(of: found.group, at: found.offset)
        }
    }

    private struct FoundGroup {
        var group: UnsafeRawBufferPointer
        var index: Int
        var offset: Int
        var recordCount: Int
    }

    /// The first group at `begin` or behind it with the number `index` or a higher one.
    private func firstGroup(_ index: Int, from begin: Int, _ budget: inout Int) -> FoundGroup? {
        var offset = begin
        while offset <= region.sizeBytes - RecordGroup.headerSizeBytes {
            if let (size, recordCount) = sizeOfPossibleGroup(at: offset) {
                // Those between were damaged, and are no more than have room there.
                for possible in index...(index + (offset - begin) / Self.leastGroupSizeBytes) {
                    guard budget > 0 else { return nil }
                    budget -= size
                    do {
                        let group = try group(possible, at: offset)
                        return FoundGroup(
                            group: group, index: possible, offset: offset, recordCount: recordCount)
                    } catch {}  // It has another number, or is none.
                }
            }
            offset += RecordGroup.alignment
        }
        return nil
    }

    /// How long a group would be, and of how many records, that stood at `offset`.
    private func sizeOfPossibleGroup(at offset: Int) -> (sizeBytes: Int, recordCount: Int)? {
        // A part of a sealed file that does not open has none that could be read.
        do { try region.require(offset: offset, count: RecordGroup.headerSizeBytes) } catch {
            return nil
        }
        let start = UnsafeRawPointer(region.base) + offset
        let size = Int(start.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian)
        guard size > RecordGroup.headerSizeBytes, size <= region.sizeBytes - offset else {
            return nil
        }
        do { try region.require(offset: offset, count: size) } catch { return nil }
        let group = UnsafeRawBufferPointer(start: start, count: size)
        guard var cursor = RecordGroup.Cursor(group, firstKeyCount: footer.firstKey.count) else {
            return nil
        }
        var recordCount = 0
        while !cursor.isAtEnd {
            guard cursor.next() != nil else { return nil }
            recordCount += 1
        }
        return (size, recordCount)
    }
}
