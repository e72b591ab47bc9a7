import RoostFormat
import RoostIO

// Records of the log are not checked again when they are read. So whoever has looked at some asks
// behind that whether the pages that they stand on could be read. Costs a load where no page of any
// mapping ever failed.

extension LogTable {
    /// Throws where a record that is of `key`, by its hash, could not be read: `.io`, or `.corrupt` where
    /// the record has another key now.
    func checkRead(_ key: UnsafeRawBufferPointer, hash: UInt64) throws {
        try forEach(hash: hash) { operation in
            guard let region = regions.all.first(where: { $0.contains(operation.location) }) else {
                return
            }
            let offset = Int(operation.location - UInt(bitPattern: region.base))
            // Its lengths first, which say how far it reaches.
            try region.checkRead(from: offset, count: Operation.headerSizeBytes)
            // A page that nobody looked at is looked at now.
            operation.touch()
            try region.checkRead(from: offset, count: operation.sizeBytes)
            if equalBytes(operation.key, key) { return }
            throw RoostError(
                .corrupt,
                "the log no longer holds what was written: another program has changed the file. "
                    + "Restore a backup, or salvage what can be read",
                file: region.path, offset: UInt64(offset))
        }
    }
}

extension Shard {
    /// To be called behind a look at the log's record of `key`, or for one.
    @inline(__always)
    nonisolated func checkLogRead(_ key: UnsafeRawBufferPointer, hash: UInt64) throws {
        if MappedRegion.faultCount != 0 { try checkLogReadBehindFaults(key, hash) }
    }

    @inline(never)
    private nonisolated func checkLogReadBehindFaults(
        _ key: UnsafeRawBufferPointer, _ hash: UInt64
    ) throws {
        try published.withLock { state in
            try state.active.checkRead(key, hash: hash)
            if let frozen = state.frozen { try frozen.checkRead(key, hash: hash) }
        }
    }
}

extension RegionList {
    /// Throws `.io` where any page could not be read.
    func checkRead() throws {
        for region in all { try region.checkRead() }
    }
}
