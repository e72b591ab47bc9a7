import RoostFormat
import RoostIO
import Synchronization

/// One snapshot file, mapped. Immutable; every call checks the checksum of each line and group
/// that it uses, and no length in them is believed.
///
/// Opening reads the header and the footer, no key and no value.
package final class SnapshotReader: Sendable {
    package let footer: SnapshotFooter
    package let path: String
    package let region: MappedRegion
    /// Where this reader's copy of the compression dictionary is, whose checksum held; 0 before it
    /// was needed. Set once.
    let dictionaryCopy = Atomic<UInt>(0)
    private let groupBits: Int
    private let index: Lines
    private let offsets: Lines
    private let groupSeed: ChecksumSeed

    /// A part of the file that is made of lines, as the footer says: at hand here, as each look-up
    /// needs them.
    private struct Lines {
        let offset: Int
        let lineCount: Int
        let seed: ChecksumSeed
    }
    /// About a group of records of 100 bytes. Past a file's end asks for nothing.
    private static let prefetchedLineCount = 12
    let countCache = Mutex(SnapshotCountCache())
    let fences = Mutex(SnapshotFenceCache())

    /// - Parameter ignoresHeader: Whether damage of the header alone is passed over.
    package convenience init(
        number: UInt64, in directory: any Directory, ignoresHeader: Bool = false
    ) throws {
        try self.init(
            file: directory.openFile(FileName.snapshot(number).text, writable: false),
            ignoresHeader: ignoresHeader)
    }

    /// Of a file that may not have its name yet.
    package convenience init(file: any File, ignoresHeader: Bool = false) throws {
        let region = try file.contents(sizeBytes: Int(try file.sizeBytes()))
        switch try Self.readEnds(of: file, region.bytes, ignoresHeader: ignoresHeader) {
        case .valid(let footer): self.init(path: file.path, region, footer)
        case .unsupported(let version):
            throw RoostError(
                .unsupportedVersion,
                "the snapshot is of format \(version); this version reads \(SnapshotFooter.version)",
                file: file.path, offset: 8)
        case .damaged(let reason, let offset):
            throw RoostError(.corrupt, reason, file: file.path, offset: offset)
        }
    }

    /// - Parameter footer: A sound one, whose parts lie within the region.
    init(path: String, _ region: MappedRegion, _ footer: SnapshotFooter) {
        self.path = path
        self.region = region
        self.footer = footer
        // Look-ups jump about.
        region.expectRandomReads()
        groupBits = IndexLine.groupBits(groupCount: Int(footer.groupCount))
        index = Lines(
            offset: Int(footer.indexOffset), lineCount: Int(footer.indexLineCount),
            seed: footer.indexSeed)
        offsets = Lines(
            offset: Int(footer.offsetsOffset),
            lineCount: OffsetLine.lineCount(groupCount: Int(footer.groupCount)),
            seed: footer.offsetSeed)
        groupSeed = footer.groupSeed
    }

    /// Reads the header and the footer by calls: a page that is only opened for them would cost an
    /// opening a fault for each of the two.
    private static func readEnds(
        of file: any File, _ contents: UnsafeRawBufferPointer, ignoresHeader: Bool
    ) throws -> SnapshotFooter.Reading {
        let headerSizeBytes = SnapshotFooter.headerSizeBytes
        let count = headerSizeBytes + SnapshotFooter.sizeBytes
        guard contents.count >= count else { return SnapshotFooter.read(contents) }
        let sizeBytes = UInt64(contents.count)
        return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { bytes in
            let header = UnsafeMutableRawBufferPointer(rebasing: bytes[..<headerSizeBytes])
            let footer = UnsafeMutableRawBufferPointer(rebasing: bytes[headerSizeBytes...])
            try file.read(into: header, at: 0)
            try file.read(into: footer, at: sizeBytes - UInt64(SnapshotFooter.sizeBytes))
            return SnapshotFooter.read(
                header: ignoresHeader ? nil : UnsafeRawBufferPointer(header), footer: .init(footer),
                fileSizeBytes: sizeBytes)
        }
    }

    deinit { UnsafeRawPointer(bitPattern: dictionaryCopy.load(ordering: .acquiring))?.deallocate() }

    /// The same snapshot for one who walks through all of it: what that opens of a sealed file goes with what this returns,
    /// and is not kept for others. `nil` where nothing has to be opened, and, unless it is `always` wanted, where there is
    /// room to keep all of it.
    package func apart(always: Bool) throws -> SnapshotReader? {
        guard let region = try region.apart(always: always) else { return nil }
        return SnapshotReader(path: path, region, footer)
    }

    package var groupCount: Int { Int(footer.groupCount) }
    private var base: UnsafeRawPointer { UnsafeRawPointer(region.base) }

    /// The record of `key`, put or tombstone; `nil` where the snapshot has none.
    ///
    /// Touches one line of the index, and for a key that is there one line of the offsets and
    /// one group.
    package func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws -> RecordGroup.Record? {
        let tag = IndexLine.tag(of: hash, groupBits: groupBits)
        var line = IndexLine.home(of: hash, lineCount: index.lineCount)
        for _ in 0..<index.lineCount {
            let lineOffset = index.offset + line * IndexLine.sizeBytes
            try region.require(offset: lineOffset, count: IndexLine.sizeBytes)
            let start = base + lineOffset
            guard IndexLine.isIntact(start, line: line, seed: index.seed) else {
                throw damaged("the index's checksum does not hold", at: start)
            }
            var matches = IndexLine.matches(start, tag: tag, groupBits: groupBits)
            while matches != 0 {
                let entry = IndexLine.entry(start, matches.trailingZeroBitCount)
                matches &= matches - 1
                let group = try group(Int(entry) & ((1 << groupBits) - 1))
                let search = RecordGroup.find(key, in: group, firstKey: footer.firstKey)
                try checkRead(group)
                switch search {
                case .found(let record): return record
                case .absent: continue
                case .damaged:
                    throw damaged("a group's records make no sense", at: group.baseAddress!)
                }
            }
            let overflows = IndexLine.overflows(start, hash: hash)
            // Its entries may have been lost after its checksum.
            if MappedRegion.faultCount != 0 {
                try checkReadBehindFaults(.init(start: start, count: IndexLine.sizeBytes))
            }
            if !overflows { return nil }
            line = line + 1 == index.lineCount ? 0 : line + 1
        }
        return nil
    }

    /// Where the index is, to be asked for ahead of `find`.
    package var indexPlace: SnapshotIndexPlace {
        SnapshotIndexPlace(
            address: UInt(bitPattern: base + index.offset), lineCount: index.lineCount)
    }

    /// The bytes of group `index`, whose checksum holds.
    package func group(_ index: Int) throws -> UnsafeRawBufferPointer {
        try group(index, at: try offset(ofGroup: index))
    }

    /// Where group `index` begins in the file.
    package func offset(ofGroup index: Int) throws -> Int {
        guard index < groupCount else {
            throw damaged("a group's number is out of range", at: base + offsets.offset)
        }
        let line = index / OffsetLine.capacity
        let lineOffset = offsets.offset + line * OffsetLine.sizeBytes
        try region.require(offset: lineOffset, count: OffsetLine.sizeBytes)
        let lineStart = base + lineOffset
        guard OffsetLine.isIntact(lineStart, line: line, seed: offsets.seed) else {
            throw damaged("the group offsets' checksum does not hold", at: lineStart)
        }
        let units = lineStart.load(UInt32.self, at: 4 + 4 * (index % OffsetLine.capacity))
        let offset = Int(units) * RecordGroup.alignment
        let end = offsets.offset
        guard offset >= Int(footer.groupsOffset), offset <= end - RecordGroup.headerSizeBytes else {
            throw damaged("a group's offset is out of range", at: lineStart)
        }
        return offset
    }

    /// Asks for the line that says where group `index` begins.
    package func prefetchOffset(ofGroup index: Int) {
        let line = index / OffsetLine.capacity
        prefetch(base + (offsets.offset + line * OffsetLine.sizeBytes))
    }

    /// Asks for a group at `offset`, about as far as groups of records of 100 bytes go.
    package func prefetchGroup(at offset: Int) {
        let start = base + offset
        for line in 0..<2 * Self.prefetchedLineCount { prefetch(start + 64 * line) }
    }

    /// The bytes of group `index` at `offset`, whose checksum holds.
    package func group(_ index: Int, at offset: Int) throws -> UnsafeRawBufferPointer {
        let end = offsets.offset
        let start = base + min(max(offset, 0), end)
        guard offset >= 0, offset <= end - RecordGroup.headerSizeBytes else {
            throw damaged("a group's offset is out of range", at: start)
        }
        // The processor asks for what follows only once it has seen a few lines in a row.
        prefetch(start)
        for line in 1..<Self.prefetchedLineCount { prefetch(start + 64 * line) }
        try region.require(offset: offset, count: RecordGroup.headerSizeBytes)
        let count = Int(start.load(UInt32.self, at: 4))
        guard count >= RecordGroup.headerSizeBytes, count <= end - offset else {
            throw damaged("a group's checksum does not hold", at: start)
        }
        try region.require(offset: offset, count: count)
        guard
            groupSeed.part(UInt64(index)).checksum(start + 4, count: count - 4)
                == start.load(UInt32.self, at: 0)
        else { throw damaged("a group's checksum does not hold", at: start) }
        return .init(start: start, count: count)
    }

    /// Steps through the records of a group.
    package func cursor(_ group: UnsafeRawBufferPointer) throws -> RecordGroup.Cursor {
        guard let cursor = RecordGroup.Cursor(group, firstKeyCount: footer.firstKey.count) else {
            throw damaged("a group's header makes no sense", at: group.baseAddress!)
        }
        return cursor
    }

    /// Calls `body` with the value of a put, decompressed; its bytes are valid during the call.
    package func withValue(
        of record: RecordGroup.Record, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard record.flags.isCompressed else {
            try body(record.stored)
            return try checkRead(record.stored)
        }
        let value = record.compressed
        let count = try checkedCount(of: value)
        try withUnsafeTemporaryAllocation(
            byteCount: count + Self.spareSizeBytes, alignment: 16
        ) { room in
            try decompress(value, into: room)
            try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }

    /// The length of a value once decompressed, which may be believed.
    package func checkedCount(of value: CompressedValue) throws -> Int {
        guard value.isCountSound else {
            throw damaged("a value's length makes no sense", at: value.stored.baseAddress!)
        }
        return value.rawCount
    }

    /// Room after a value that makes decompressing it faster.
    package static let spareSizeBytes = BlockEnd.zeroCount

    /// Decompresses a value into the begin of `room`, which is at least as long; what stands after it
    /// may change, up to the room's end.
    package func decompress(
        _ value: CompressedValue, into room: UnsafeMutableRawBufferPointer
    ) throws {
        let headerCount = value.uncompressedCount
        if headerCount > 0 {
            room.copyMemory(from: .init(rebasing: value.stored[..<headerCount]))
        }
        guard
            RoostSnapshot.decompress(
                .init(rebasing: value.stored[headerCount...]),
                leftOutCount: value.flags.leftOutCount, dictionary: try dictionaryBytes(),
                count: value.rawCount - headerCount, into: .init(rebasing: room[headerCount...]))
        else {
            throw damaged("a value does not decompress", at: value.stored.baseAddress!)
        }
        try checkRead(value.stored)
    }

    /// Throws `.io` where a page could not be read that `bytes`, which are in this file, stand on. A checksum says what
    /// was there when it was made: to be called after the last look at them. Costs a load where no page of any
    /// mapping ever failed.
    @inline(__always)
    package func checkRead(_ bytes: UnsafeRawBufferPointer) throws {
        if MappedRegion.faultCount != 0 { try checkReadBehindFaults(bytes) }
    }

    @inline(never)
    private func checkReadBehindFaults(_ bytes: UnsafeRawBufferPointer) throws {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        try region.checkRead(from: start - base, count: bytes.count)
    }

    package func damaged(_ reason: String, at address: UnsafeRawPointer) -> RoostError {
        // Where a page could not be read there are zeros, which check no more than damage does.
        region.readFailure(from: address - base)
            ?? RoostError(
                .corrupt, "\(reason). Restore a backup, or salvage what can be read", file: path,
                offset: UInt64(address - base))
    }
}
