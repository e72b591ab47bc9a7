import RoostFormat
import RoostIO

// Records of the log are not checked again when they are read. So whoever has looked at some asks
// after that whether the pages that they stand on could be read. Costs a load where no page of any
// mapping ever failed.

extension LogTable {
    /// Throws where a record that is of `key`, by its hash, could not be read: `.io`, or `.corrupt` where
    /// the record has another key now.
    func checkRead(_ key: UnsafeRawBufferPointer, hash: UInt64) throws {
        try forEach(hash: hash) { try regions.checkRead($0, of: key) }
    }
}

extension ChangedKeys {
    /// As that of a table, whose memory is in `regions`.
    func checkRead(
        _ key: UnsafeRawBufferPointer, hash: UInt64, in regions: RegionList
    ) throws {
        try forEach(hash: hash) { try regions.checkRead($0, of: key) }
    }
}

extension ViewLayers {
    /// As that of a table, of the one that a view sees and of what was changed in it since.
    func checkRead(
        _ key: UnsafeRawBufferPointer, hash: UInt64, view: UInt64, active: LogTable
    ) throws {
        try checking(view, active) { table, layers in
            try table.checkRead(key, hash: hash)
            for layer in layers {
                try layer.changed.checkRead(key, hash: hash, in: table.regions)
            }
        }
    }

    /// Throws `.io` where any page of the table's log could not be read that a view sees.
    func checkRead(view: UInt64, active: LogTable) throws {
        try checking(view, active) { table, _ in try table.regions.checkRead() }
    }

    private func checking(
        _ view: UInt64, _ active: LogTable,
        _ body: (LogTable, ArraySlice<Layer>) throws -> Void
    ) throws {
        try withLayers(of: view, active: active) { table, layers in
            Result { try body(table, layers) }
        }.get()
    }
}

extension ShardState {
    /// Throws where a record of `key` could not be read, in whichever table.
    func checkLogRead(_ key: UnsafeRawBufferPointer, hash: UInt64) throws {
        try active.checkRead(key, hash: hash)
        if let frozen { try frozen.checkRead(key, hash: hash) }
        // What is staged does not say where its memory is; its writer was here a moment ago.
        for batch in staged
        where batch.token.isCommitted && batch.changes.contains(where: { $0.hash == hash }) {
            try active.regions.checkRead()
        }
    }
}

extension Shard {
    /// To be called after a look at the log's record of `key`, or for one.
    @inline(__always)
    nonisolated func checkLogRead(_ key: UnsafeRawBufferPointer, hash: UInt64) throws {
        if MappedRegion.faultCount != 0 { try checkLogReadBehindFaults(key, hash) }
    }

    @inline(never)
    private nonisolated func checkLogReadBehindFaults(
        _ key: UnsafeRawBufferPointer, _ hash: UInt64
    ) throws {
        try published.withLock { try $0.checkLogRead(key, hash: hash) }
    }
}

extension EngineView {
    /// To be called after a look at the log's record of `key` that the view sees, or for one.
    @inline(__always)
    func checkLogRead(
        _ key: UnsafeRawBufferPointer, hash: UInt64, shard index: Int
    ) throws {
        if MappedRegion.faultCount != 0 { try checkLogReadBehindFaults(key, hash, index) }
    }

    @inline(never)
    private func checkLogReadBehindFaults(
        _ key: UnsafeRawBufferPointer, _ hash: UInt64, _ index: Int
    ) throws {
        try shard(index).published.withLock { state in
            try state.layers.checkRead(key, hash: hash, view: id, active: state.active)
        }
        try parts[index].frozen?.checkRead(key, hash: hash)
    }

    /// To be called after a look for any keys: one on a page that could not be read is in no
    /// dictionary and in no range, so it might have been any. Throws `.io` where there is such a page.
    @inline(__always)
    func checkLogRead() throws {
        if MappedRegion.faultCount != 0 { try checkLogReadBehindFaults() }
    }

    @inline(never)
    private func checkLogReadBehindFaults() throws {
        if isLogEmpty { return }
        for (index, part) in parts.enumerated() {
            try shard(index).published.withLock { state in
                try state.layers.checkRead(view: id, active: state.active)
            }
            try part.frozen?.regions.checkRead()
        }
    }
}

extension RegionList {
    /// Throws `.io` where any page could not be read.
    func checkRead() throws {
        for region in all { try region.checkRead() }
    }

    /// Throws where `operation`, which was written as one on `key`, could not be read: `.io`, or
    /// `.corrupt` where it has another key now.
    func checkRead(_ operation: Operation, of key: UnsafeRawBufferPointer) throws {
        guard let region = region(of: operation.location) else { return }
        try region.checkRead(operation)
        if equalBytes(operation.key, key) { return }
        throw RoostError(
            .corrupt,
            "the log no longer holds what was written: another program has changed the file. "
                + "Restore a backup, or salvage what can be read",
            file: region.path, offset: UInt64(region.offset(of: operation)))
    }
}

extension MappedRegion {
    fileprivate func offset(of operation: Operation) -> Int {
        Int(operation.location - UInt(bitPattern: base))
    }

    /// Throws `.io` where a page could not be read that `operation` stands on. It stands in this memory.
    func checkRead(_ operation: Operation) throws {
        let offset = offset(of: operation)
        // Its lengths first, which say how far it reaches.
        try checkRead(from: offset, count: Operation.headerSizeBytes)
        // A page that nobody looked at is looked at now.
        operation.touch()
        try checkRead(from: offset, count: operation.sizeBytes)
    }
}
