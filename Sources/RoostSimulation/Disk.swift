import RoostIO

/// The whole state of a simulated machine's disk and page cache, as a value: a crash is a
/// function from one to another.
package struct Disk: Sendable {
    var inodes: [Int: Inode] = [:]
    var entries = EntryTable()
    var nextInode = 1
    /// For what a failing sync wrote and for the engine's salts.
    var random: SimulationRandom
    /// `map` gives memory; else files are read and written only.
    package var allowsMapping = true

    package init(seed: UInt64) { random = SimulationRandom(seed: seed) }

    /// Takes over what was stored through mappings, which from here on no longer count.
    mutating func detachMappings() {
        for id in inodes.keys {
            inodes[id]?.absorb()
            inodes[id]?.dropMappings()
        }
    }

    /// What the death of the process leaves: all of it, dirty as it was.
    package func afterKill() -> Disk {
        var disk = self
        disk.detachMappings()
        return disk
    }

    /// What the death of the process leaves in the middle of the write that made `next`: the first
    /// half of the bytes that differ. `nil` where more than the content of one file differs.
    package func halfWritten(towards next: Disk) -> Disk? {
        guard entries.volatile == next.entries.volatile else { return nil }
        let changed = inodes.compactMap { id, inode -> (id: Int, old: [UInt8], new: [UInt8])? in
            let old = inode.volatile.contents
            let new = next.inodes[id]?.volatile.contents ?? []
            return old == new ? nil : (id, old, new)
        }
        guard changed.count == 1, let (id, old, new) = changed.first, old.count == new.count,
            let first = old.indices.first(where: { old[$0] != new[$0] }),
            let last = old.indices.last(where: { old[$0] != new[$0] }), first < last
        else { return nil }
        var disk = self
        new[first...(first + (last - first) / 2)].withUnsafeBytes {
            disk.inodes[id]?.write($0, at: first)
        }
        return disk
    }

    /// What a power cut leaves.
    package func afterPowerCut(_ choices: inout some CrashChoices) -> Disk {
        var disk = self
        disk.detachMappings()
        disk.entries = entries.afterPowerCut(&choices)
        let live = Set(disk.entries.volatile.values)
        for id in disk.inodes.keys.sorted() {
            disk.inodes[id] = live.contains(id) ? disk.inodes[id]?.afterPowerCut(&choices) : nil
        }
        return disk
    }

    /// Pages that a failed sync made clean though they never reached the disk.
    package var droppedPageCount: Int { inodes.values.reduce(0) { $0 + $1.dropped.count } }

    /// Flips a bit of some file's content; says where, or `nil` where there is none.
    package mutating func rot(_ random: inout SimulationRandom) -> String? {
        let files = entries.volatile.sorted { $0.key < $1.key }
        guard !files.isEmpty else { return nil }
        let file = files[random.below(files.count)]
        guard let offset = inodes[file.value]?.flipBit(&random) else { return nil }
        return "a flipped bit of \(file.key) at \(offset)"
    }

    /// The files' names and sizes, for reports.
    package var listing: [String] {
        entries.volatile.sorted { $0.key < $1.key }.map { name, id in
            "\(name) (\(inodes[id]?.volatile.sizeBytes ?? -1))"
        }
    }
}
