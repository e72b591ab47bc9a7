/// What a snapshot's groups cannot be read without, in front of them. Only at the file's end all of a snapshot is known,
/// so that all stands there, in the footer; a salvage of a file whose end is lost or damaged reads the groups by this.
/// docs/FORMAT.md, "Snapshots".
///
/// ```
/// offset  size  field
///      0     8  magic, "ROOSTPRE"
///      8     4  version
///     12     4  salt
///     16     8  number
///     24    16  workspace
///     40     4  length of the compression dictionary
///     44     4  its checksum
///     48    20  how the first key begins
///     68     8  zero
///     76     4  checksum of what is before it
/// ```
package enum SnapshotPreface {
    package static let sizeBytes = 80
    private static let magic: UInt64 = 0x4552_5054_534f_4f52  // "ROOSTPRE"
    private static let checksumOffset = 76

    /// Behind the compression dictionary, which begins behind the header.
    package static func offset(dictionaryCount: Int) -> Int {
        RecordGroup.padded(SnapshotFooter.headerSizeBytes + dictionaryCount)
    }

    /// Writes what of `footer` is known once there is a first key.
    package static func write(_ footer: SnapshotFooter, to target: UnsafeMutableRawPointer) {
        target.initializeMemory(as: UInt8.self, repeating: 0, count: sizeBytes)
        target.store(magic, at: 0)
        target.store(SnapshotFooter.version, at: 8)
        target.store(footer.salt, at: 12)
        target.store(footer.number, at: 16)
        target.store(footer.workspace.first, at: 24)
        target.store(footer.workspace.second, at: 32)
        target.store(footer.dictionaryCount, at: 40)
        target.store(footer.dictionaryChecksum, at: 44)
        footer.firstKey.write(to: target + 48)
        target.store(
            ChecksumSeed(0).checksum(UnsafeRawPointer(target), count: checksumOffset),
            at: checksumOffset)
    }

    /// Whether the `sizeBytes` bytes at `start` are what is written of `footer`.
    package static func isIntact(_ start: UnsafeRawPointer, of footer: SnapshotFooter) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: sizeBytes, alignment: 8) { expected in
            write(footer, to: expected.baseAddress!)
            return expected.elementsEqual(UnsafeRawBufferPointer(start: start, count: sizeBytes))
        }
    }

    /// The footer as far as the preface at `start` says what is in it, which is at `offset` of its file; `nil` where there
    /// is none of snapshot `number` and this version.
    package static func read(
        _ start: UnsafeRawPointer, at offset: Int, number: UInt64
    ) -> SnapshotFooter? {
        guard start.load(UInt64.self, at: 0) == magic,
            ChecksumSeed(0).checksum(start, count: checksumOffset)
                == start.load(UInt32.self, at: checksumOffset),
            start.load(UInt32.self, at: 8) == SnapshotFooter.version,
            start.load(UInt64.self, at: 16) == number,
            let firstKey = FirstKey(readFrom: start + 48)
        else { return nil }
        var footer = SnapshotFooter()
        footer.salt = start.load(UInt32.self, at: 12)
        footer.number = number
        footer.workspace.first = start.load(UInt64.self, at: 24)
        footer.workspace.second = start.load(UInt64.self, at: 32)
        footer.dictionaryCount = start.load(UInt32.self, at: 40)
        footer.dictionaryChecksum = start.load(UInt32.self, at: 44)
        footer.firstKey = firstKey
        guard footer.dictionaryCount <= UInt32(Limits.compressionDictionarySizeBytes),
            offset == Self.offset(dictionaryCount: Int(footer.dictionaryCount))
        else { return nil }
        footer.dictionaryOffset = UInt64(SnapshotFooter.headerSizeBytes)
        footer.groupsOffset = UInt64(offset + sizeBytes)
        return footer
    }
}

/// Where those parts are that a reading does not need. Files that were written before there were any have none.
extension SnapshotFooter {
    package var prefaceOffset: UInt64? {
        let offset = UInt64(SnapshotPreface.offset(dictionaryCount: Int(dictionaryCount)))
        return groupsOffset >= offset + UInt64(SnapshotPreface.sizeBytes) ? offset : nil
    }

    /// Where the compression dictionary stands once more, behind the groups: each compressed value needs it.
    package var secondDictionaryOffset: UInt64? {
        let count = UInt64(RecordGroup.padded(Int(dictionaryCount)))
        guard prefaceOffset != nil, count > 0, offsetsOffset >= groupsOffset + count else {
            return nil
        }
        return offsetsOffset - count
    }

    package var groupsEnd: UInt64 { secondDictionaryOffset ?? offsetsOffset }
}
