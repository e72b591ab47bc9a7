/// The last 192 bytes of a snapshot file: where its parts are and what they hold.
/// docs/FORMAT.md, "Snapshots".
package struct SnapshotFooter: Equatable, Sendable {
    package static let sizeBytes = 192
    package static var version: UInt32 { Limits.formatVersion }
    /// The file begins with eight bytes of magic, the version and zeros.
    package static let headerSizeBytes = 16
    package static let headerMagic: UInt64 = 0x504e_5354_534f_4f52  // "ROOSTSNP"
    private static let magic: UInt64 = 0x444e_4554_534f_4f52  // "ROOSTEND"

    package var salt: UInt32 = 0
    package var number: UInt64 = 0
    package var workspace = WorkspaceIdentifier(first: 0, second: 0)
    package var groupCount: UInt32 = 0
    package var recordCount: UInt64 = 0
    package var tombstoneCount: UInt64 = 0
    /// The records' keys and values before front-coding and compression.
    package var rawSizeBytes: UInt64 = 0
    package var minimumSequence: UInt64 = 0
    package var maximumSequence: UInt64 = 0
    package var dictionaryOffset: UInt64 = 0
    package var dictionaryCount: UInt32 = 0
    package var dictionaryChecksum: UInt32 = 0
    package var groupsOffset: UInt64 = 0
    package var offsetsOffset: UInt64 = 0
    package var indexOffset: UInt64 = 0
    package var indexLineCount: UInt32 = 0
    /// How many records the workspace had in snapshots when the compression dictionary was trained.
    package var dictionaryRecordCount: UInt32 = 0
    package var fileSizeBytes: UInt64 = 0
    package var countsOffset: UInt64 = 0
    /// How many dictionaries have records here.
    package var countsCount: UInt32 = 0
    package var countsChecksum: UInt32 = 0
    /// When the first of the values expires; on disk 0 where none does.
    package var earliestDeadline = Deadline.never
    package var firstKey = FirstKey()

    package init() {}

    private var seed: ChecksumSeed { ChecksumSeed(salt).part(number) }
    package var groupSeed: ChecksumSeed { seed.part(1 << 40) }
    package var indexSeed: ChecksumSeed { seed.part(2 << 40) }
    package var offsetSeed: ChecksumSeed { seed.part(3 << 40) }
    package var dictionarySeed: ChecksumSeed { seed.part(4 << 40) }

    package var countsSeed: ChecksumSeed { seed.part(5 << 40) }
    package var countsSizeBytes: UInt64 { fileSizeBytes - UInt64(Self.sizeBytes) - countsOffset }

    package func write(to target: UnsafeMutableRawPointer) {
        target.initializeMemory(as: UInt8.self, repeating: 0, count: Self.sizeBytes)
        target.store(Self.magic, at: 0)
        target.store(Self.version, at: 8)
        target.store(salt, at: 12)
        target.store(number, at: 16)
        target.store(workspace.first, at: 24)
        target.store(workspace.second, at: 32)
        target.store(dictionaryRecordCount, at: 40)
        target.store(groupCount, at: 44)
        target.store(recordCount, at: 48)
        target.store(tombstoneCount, at: 56)
        target.store(rawSizeBytes, at: 64)
        target.store(minimumSequence, at: 72)
        target.store(maximumSequence, at: 80)
        target.store(dictionaryOffset, at: 88)
        target.store(dictionaryCount, at: 96)
        target.store(dictionaryChecksum, at: 100)
        target.store(groupsOffset, at: 104)
        target.store(offsetsOffset, at: 112)
        target.store(indexOffset, at: 120)
        target.store(indexLineCount, at: 128)
        target.store(countsCount, at: 132)
        target.store(fileSizeBytes, at: 136)
        target.store(countsOffset, at: 144)
        target.store(countsChecksum, at: 152)
        if earliestDeadline != .never { target.store(earliestDeadline.milliseconds, at: 160) }
        firstKey.write(to: target + 168)
        target.store(ChecksumSeed(0).checksum(target, count: 188), at: 188)
    }

    package enum Reading {
        case valid(SnapshotFooter)
        case unsupported(version: UInt32)
        /// What is wrong, for the error's message, and where in the file.
        case damaged(String, offset: UInt64)
    }

    /// Reads and checks the footer of `file`.
    package static func read(_ file: UnsafeRawBufferPointer) -> Reading {
        read(
            header: .init(rebasing: file.prefix(headerSizeBytes)),
            footer: .init(rebasing: file.suffix(sizeBytes)), fileSizeBytes: UInt64(file.count))
    }

    /// Reads and checks a file's first `headerSizeBytes` bytes and its last `sizeBytes`: every offset
    /// lies within the file, in order, and every part has the length that its count asks for.
    ///
    /// - Parameter header: `nil` where it is not to be looked at. The footer says all that it says.
    package static func read(
        header: UnsafeRawBufferPointer?, footer: UnsafeRawBufferPointer, fileSizeBytes: UInt64
    ) -> Reading {
        guard fileSizeBytes >= UInt64(headerSizeBytes + sizeBytes), let start = footer.baseAddress
        else { return .damaged("the file is too short to be a snapshot", offset: 0) }
        if let base = header?.baseAddress {
            guard base.load(UInt64.self, at: 0) == headerMagic else {
                return .damaged("the file does not begin as a snapshot", offset: 0)
            }
            let version = base.load(UInt32.self, at: 8)
            guard version == Self.version else { return .unsupported(version: version) }
            guard base.load(UInt32.self, at: 12) == 0 else {
                return .damaged("the header is damaged", offset: 0)
            }
        }
        let offset = fileSizeBytes - UInt64(sizeBytes)
        guard start.load(UInt64.self, at: 0) == magic,
            ChecksumSeed(0).checksum(start, count: 188) == start.load(UInt32.self, at: 188),
            start.load(UInt32.self, at: 8) == Self.version
        else { return .damaged("the footer's checksum does not hold", offset: offset) }
        var footer = SnapshotFooter()
        footer.salt = start.load(UInt32.self, at: 12)
        footer.number = start.load(UInt64.self, at: 16)
        footer.workspace.first = start.load(UInt64.self, at: 24)
        footer.workspace.second = start.load(UInt64.self, at: 32)
        footer.dictionaryRecordCount = start.load(UInt32.self, at: 40)
        footer.groupCount = start.load(UInt32.self, at: 44)
        footer.recordCount = start.load(UInt64.self, at: 48)
        footer.tombstoneCount = start.load(UInt64.self, at: 56)
        footer.rawSizeBytes = start.load(UInt64.self, at: 64)
        footer.minimumSequence = start.load(UInt64.self, at: 72)
        footer.maximumSequence = start.load(UInt64.self, at: 80)
        footer.dictionaryOffset = start.load(UInt64.self, at: 88)
        footer.dictionaryCount = start.load(UInt32.self, at: 96)
        footer.dictionaryChecksum = start.load(UInt32.self, at: 100)
        footer.groupsOffset = start.load(UInt64.self, at: 104)
        footer.offsetsOffset = start.load(UInt64.self, at: 112)
        footer.indexOffset = start.load(UInt64.self, at: 120)
        footer.indexLineCount = start.load(UInt32.self, at: 128)
        footer.countsCount = start.load(UInt32.self, at: 132)
        footer.fileSizeBytes = start.load(UInt64.self, at: 136)
        footer.countsOffset = start.load(UInt64.self, at: 144)
        footer.countsChecksum = start.load(UInt32.self, at: 152)
        let earliest = start.load(UInt64.self, at: 160)
        footer.earliestDeadline = earliest == 0 ? .never : Deadline(milliseconds: earliest)
        guard let firstKey = FirstKey(readFrom: start + 168) else {
            return .damaged("the length of the first key is out of range", offset: offset)
        }
        footer.firstKey = firstKey
        guard footer.partsFit(fileSizeBytes: fileSizeBytes) else {
            return .damaged("the footer's parts do not fit the file", offset: offset)
        }
        return .valid(footer)
    }

    private func partsFit(fileSizeBytes actual: UInt64) -> Bool {
        let offsetsSize = UInt64(
            OffsetLine.lineCount(groupCount: Int(groupCount)) * OffsetLine.sizeBytes)
        let indexSize = UInt64(indexLineCount) * UInt64(IndexLine.sizeBytes)
        let end = actual - UInt64(Self.sizeBytes)
        return fileSizeBytes == actual && recordCount > 0 && groupCount > 0 && indexLineCount > 0
            && recordCount <= UInt64(indexLineCount) * UInt64(IndexLine.capacity)
            && dictionaryCount <= UInt32(Limits.compressionDictionarySizeBytes)
            && dictionaryOffset == UInt64(Self.headerSizeBytes)
            && groupsOffset >= dictionaryOffset + UInt64(dictionaryCount)
            && groupsOffset <= offsetsOffset && offsetsOffset <= end && indexOffset <= end
            && groupsOffset % 8 == 0
            && end - offsetsOffset >= offsetsSize && indexOffset == offsetsOffset + offsetsSize
            && end - indexOffset >= indexSize && countsOffset == indexOffset + indexSize
            && countsCount > 0
    }
}
