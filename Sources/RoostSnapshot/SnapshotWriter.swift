import RoostFormat
import RoostIO

/// Writes one snapshot file: records in key order, then what finds them again.
///
/// The file has its unfinished name until `finish` has synced it, so that a crash leaves nothing
/// that looks like a snapshot. For one user at a time; blocks.
package struct SnapshotWriter: ~Copyable {
    private let directory: any Directory
    private let file: any File
    private let number: UInt64
    private let hashSeed: HashSeed
    package let dictionary: CompressionDictionary
    private var compressor: ValueCompressor?
    private var footer = SnapshotFooter()
    private var counts = DictionaryCounts()

    private var output = OutputBuffer(capacity: flushSizeBytes + (64 << 10))
    /// Where `output` begins in the file.
    private var outputOffset: UInt64 = 0

    private var group = RecordGroup.Builder()
    private var groupOffsets: [UInt32] = []
    private var entries: [(hash: UInt64, group: UInt32)] = []

    private static let flushSizeBytes = 1 << 20

    /// `dictionary` is `nil` where values are not to be compressed.
    package init(
        directory: any Directory, number: UInt64, workspace: WorkspaceIdentifier,
        hashSeed: HashSeed, dictionary: CompressionDictionary?, expectedRecordCount: Int
    ) throws {
        self.directory = directory
        self.number = number
        self.hashSeed = hashSeed
        self.dictionary = dictionary ?? .init()
        compressor = dictionary.map { ValueCompressor(dictionary: $0) }
        file = try directory.createFile(FileName.unfinishedSnapshot(number).text)
        entries.reserveCapacity(expectedRecordCount)
        footer.salt = directory.randomSalt()
        footer.number = number
        footer.workspace = workspace
        footer.minimumSequence = .max
        output.append(SnapshotFooter.headerMagic)
        output.append(SnapshotFooter.version)
        output.append(UInt32(0))
        footer.dictionaryOffset = UInt64(output.count)
        let bytes = dictionary?.bytes ?? []
        footer.dictionaryCount = UInt32(bytes.count)
        footer.dictionaryRecordCount = dictionary?.recordCount ?? 0
        footer.dictionaryChecksum = bytes.withUnsafeBytes { footer.dictionarySeed.checksum($0) }
        output.append(bytes)
        output.pad(to: RecordGroup.alignment)
        footer.groupsOffset = UInt64(output.count + SnapshotPreface.sizeBytes)
    }

    package var recordCount: Int { entries.count }

    /// Adds a put; keys come in strictly ascending order of their bytes.
    package mutating func add(
        key: UnsafeRawBufferPointer, sequence: UInt64, value: UnsafeRawBufferPointer
    ) throws {
        let headerCount = ValueHeader.uncompressedCount(value)
        let flags: RecordGroup.Flags = headerCount > 0 ? .put.union(.expires) : .put
        if let compressed = compressor?.compress(value, headerCount: headerCount) {
            try add(
                key: key, sequence: sequence,
                flags: flags.union(.compressed(leftOutCount: compressed.leftOutCount)),
                stored: compressed.bytes, rawCount: value.count)
        } else {
            try add(
                key: key, sequence: sequence, flags: flags, stored: value, rawCount: value.count)
        }
    }

    package mutating func addTombstone(key: UnsafeRawBufferPointer, sequence: UInt64) throws {
        footer.tombstoneCount += 1
        try add(
            key: key, sequence: sequence, flags: .tombstone, stored: .init(start: nil, count: 0),
            rawCount: 0)
    }

    /// Adds a put as another snapshot with the same dictionary holds it.
    package mutating func add(
        key: UnsafeRawBufferPointer, sequence: UInt64, flags: RecordGroup.Flags,
        stored: UnsafeRawBufferPointer, rawCount: Int
    ) throws {
        group.add(key: key, sequence: sequence, flags: flags, stored: stored, rawCount: rawCount)
        entries.append((hashSeed.hash(key), UInt32(groupOffsets.count)))
        var deadline = Deadline.never
        if flags.contains(.expires) {
            deadline = ValueHeader.deadline(at: stored.baseAddress!)
            // Zero on disk says that nothing expires.
            footer.earliestDeadline = min(
                footer.earliestDeadline, max(deadline, Deadline(milliseconds: 1)))
        }
        counts.add(key, isPut: flags.contains(.put), sequence: sequence, deadline: deadline)
        footer.rawSizeBytes += UInt64(key.count + rawCount)
        footer.minimumSequence = min(footer.minimumSequence, sequence)
        footer.maximumSequence = max(footer.maximumSequence, sequence)
        if group.isFull { try endGroup() }
    }

    private mutating func endGroup() throws {
        guard !group.isEmpty else { return }
        if groupOffsets.isEmpty { appendPreface() }
        let offset = outputOffset + UInt64(output.count)
        guard let units = UInt32(exactly: offset / UInt64(RecordGroup.alignment)) else {
            throw RoostError(
                .valueTooLarge, "a snapshot would pass 32 GiB", file: file.path)
        }
        group.finish(seed: footer.groupSeed.part(UInt64(groupOffsets.count)), into: &output)
        groupOffsets.append(units)
        output.pad(to: RecordGroup.alignment)
        if output.count >= Self.flushSizeBytes { try flush() }
    }

    private mutating func appendPreface() {
        footer.firstKey = group.snapshotFirstKey
        SnapshotPreface.write(footer, to: output.reserve(SnapshotPreface.sizeBytes))
        output.count += SnapshotPreface.sizeBytes
    }

    private mutating func flush() throws {
        try file.write(output.bytes, at: outputOffset)
        outputOffset += UInt64(output.count)
        output.count = 0
    }

    /// Completes and syncs the file and gives it its name; the directory is still to be synced.
    /// At least one record must have been added.
    ///
    /// - Parameter checksDirectory: Throws where the directory is not the workspace's any more: called before the file gets
    ///   its name, which may be that of somebody else's by then.
    package mutating func finish(
        checksDirectory: () throws -> Void = {}
    ) throws -> SnapshotFooter {
        precondition(!entries.isEmpty, "a snapshot holds at least one record")
        try endGroup()
        footer.recordCount = UInt64(entries.count)
        footer.groupCount = UInt32(groupOffsets.count)
        output.append(dictionary.bytes)
        output.pad(to: RecordGroup.alignment)
        footer.offsetsOffset = outputOffset + UInt64(output.count)
        let offsetsSize =
            OffsetLine.lineCount(groupCount: groupOffsets.count) * OffsetLine.sizeBytes
        OffsetLine.build(groupOffsets, seed: footer.offsetSeed, into: appendZeros(offsetsSize))
        try flush()
        let lineCount = IndexLine.lineCount(recordCount: entries.count)
        footer.indexOffset = outputOffset
        footer.indexLineCount = UInt32(lineCount)
        IndexLine.build(
            entries, groupCount: groupOffsets.count, lineCount: lineCount, seed: footer.indexSeed,
            into: appendZeros(lineCount * IndexLine.sizeBytes))
        appendCounts()
        footer.fileSizeBytes =
            outputOffset + UInt64(output.count) + UInt64(SnapshotFooter.sizeBytes)
        footer.write(to: output.reserve(SnapshotFooter.sizeBytes))
        output.count += SnapshotFooter.sizeBytes
        try flush()
        try file.syncData()
        try checksDirectory()
        let name = FileName.snapshot(number).text
        guard try !directory.entries().contains(where: { $0.name == name }) else {
            throw RoostError(
                .io,
                "there is a file of this name already, which this opening has not made: it is left as it is",
                file: "\(directory.path)/\(name)")
        }
        try directory.rename(FileName.unfinishedSnapshot(number).text, to: name)
        return footer
    }

    private mutating func appendCounts() {
        counts.finish()
        let bytes = counts.encoded()
        footer.countsOffset = outputOffset + UInt64(output.count)
        footer.countsCount = UInt32(counts.entries.count)
        footer.countsChecksum = bytes.withUnsafeBytes { footer.countsSeed.checksum($0) }
        output.append(bytes)
    }

    /// Removes the unfinished file.
    package func discard() throws {
        try directory.remove(FileName.unfinishedSnapshot(number).text)
    }

    /// Appends `count` zeros, which the caller fills in before the next call.
    private mutating func appendZeros(_ count: Int) -> UnsafeMutableRawPointer {
        let target = output.reserve(count)
        target.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        output.count += count
        return target
    }
}
