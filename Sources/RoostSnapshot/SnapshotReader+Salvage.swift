import RoostFormat
import RoostIO

extension SnapshotReader {
    /// What stands where a group should.
    package enum SalvagedGroup {
        case intact(UnsafeRawBufferPointer, index: Int, offset: Int)
        case damaged(offset: UInt64, RoostError)
    }

    /// Calls `body` with every group in order. Finds those whose offsets are damaged after the
    /// one before them, as groups follow each other without gaps.
    package func forEachSalvagedGroup(_ body: (SalvagedGroup) -> Void) {
        var expected = Int(footer.groupsOffset)
        for index in 0..<groupCount {
            var start = expected
            do {
                start = try offset(ofGroup: index)
            } catch {}  // Then it stands, if anywhere, after the group before it.
            do {
                let group = try group(index, at: start)
                body(.intact(group, index: index, offset: start))
                let size = group.count + RecordGroup.alignment - 1
                expected = start + size / RecordGroup.alignment * RecordGroup.alignment
            } catch {
                let failure =
                    error as? RoostError ?? RoostError(.io, "could not be read", cause: error)
                body(.damaged(offset: UInt64(max(0, start)), failure))
            }
        }
    }
}
