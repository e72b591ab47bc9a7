import CRoost

// Pages that cannot be had. The kernel tells of them by SIGBUS, in the middle of a look at the memory;
// the handler (Sources/CRoost/faults.c) puts private memory in the page's place and notes it. So what
// was read is believed, and what was written counts, only once `faultCount` or the region was asked.

extension MappedRegion {
    /// Goes up with each page of any mapping that is replaced, from zero when the process begins; tells of all that was read
    /// or written before it is asked. Costs a load.
    @inline(__always)
    package static var faultCount: UInt64 { roost_fault_count() }

    /// Has those who ask for the count look closely: something was read that was never written.
    @inline(never)
    package static func noteDoubt() { roost_note_doubt() }

    /// How many pages of this mapping were replaced. What is stored into one does not reach the file.
    package var replacedPageCount: UInt64 { guarding.map(roost_guard_replaced_count) ?? 0 }

    /// The first place among `count` bytes from `offset` on whose content is lost, so that zeros stand
    /// there; `nil` where all of them are the file's.
    package func firstLostOffset(from offset: Int, count: Int) -> Int? {
        guard let guarding else { return nil }
        let first = roost_guard_first_lost(guarding, offset, min(count, sizeBytes - offset))
        return first < 0 ? nil : Int(first)
    }

    /// Throws `.io` with file and offset where the file could not be read at `offset` or in the `count`
    /// bytes from there on. To be called after the look at them.
    @inline(__always)
    package func checkRead(from offset: Int = 0, count: Int = .max) throws {
        if Self.faultCount == 0 { return }
        if let error = readFailure(from: offset, count: count) { throw error }
    }

    /// As `checkRead`, without throwing.
    package func readFailure(from offset: Int = 0, count: Int = .max) -> RoostError? {
        firstLostOffset(from: offset, count: count).map { lost in
            RoostError(
                .io,
                "the file cannot be read: a block of the disk is unreadable, or the file was cut. "
                    + "Restore a backup, or salvage what can be read",
                file: path, offset: UInt64(lost))
        }
    }

    /// Whether `location` is in this memory.
    @inline(__always)
    package func contains(_ location: UInt) -> Bool {
        location &- UInt(bitPattern: base) < UInt(sizeBytes)
    }
}
