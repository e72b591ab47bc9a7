import RoostIO

/// The durable list of a workspace's live files, as one checksummed record.
/// docs/FORMAT.md, "Manifest".
package struct ManifestRecord: Equatable, Sendable {
    /// A snapshot that the workspace rests on.
    package struct Snapshot: Equatable, Sendable {
        package var number: UInt64
        package var fileSizeBytes: UInt64
        package var recordCount: UInt64
        package var minimumSequence: UInt64
        package var maximumSequence: UInt64

        package init(footer: SnapshotFooter) {
            number = footer.number
            fileSizeBytes = footer.fileSizeBytes
            recordCount = footer.recordCount
            minimumSequence = footer.minimumSequence
            maximumSequence = footer.maximumSequence
        }

        fileprivate init(_ reader: inout FieldReader) {
            number = reader.next()
            fileSizeBytes = reader.next()
            recordCount = reader.next()
            minimumSequence = reader.next()
            maximumSequence = reader.next()
        }
    }

    /// A dictionary that was emptied: its records up to `sequence` are gone.
    package struct Clear: Equatable, Sendable {
        package var prefix: [UInt8]
        package var sequence: UInt64

        package init(prefix: [UInt8], sequence: UInt64) {
            self.prefix = prefix
            self.sequence = sequence
        }
    }

    package var workspace: WorkspaceIdentifier
    package var hashSeed: HashSeed
    package var shardCount: UInt32
    /// Counts the manifests written.
    package var generation: UInt64 = 0
    /// The first segment that is needed.
    package var firstSegment: UInt64 = 1
    /// Every batch up to this one is in the snapshots.
    package var flushedSequence: UInt64 = 0
    /// Every batch up to this one was on disk when the manifest was written: a log that ends
    /// before it is damaged, not torn.
    package var durableSequence: UInt64 = 0
    /// No snapshot with this number or a higher one was ever listed.
    package var nextSnapshotNumber: UInt64 = 1
    package var clears: [Clear] = []
    /// Per shard, the newest first.
    package var snapshots: [[Snapshot]]

    package init(workspace: WorkspaceIdentifier, hashSeed: HashSeed, shardCount: Int) {
        self.workspace = workspace
        self.hashSeed = hashSeed
        self.shardCount = UInt32(shardCount)
        snapshots = Array(repeating: [], count: shardCount)
    }

    private static let magic: UInt64 = 0x4e41_4d54_534f_4f52  // "ROOSTMAN"

    package func encoded() -> OutputBuffer {
        var buffer = OutputBuffer()
        buffer.append(Self.magic)
        buffer.append(Limits.formatVersion)
        buffer.append(shardCount)
        for field in [
            workspace.first, workspace.second, hashSeed.first, hashSeed.second, generation,
            firstSegment, flushedSequence, durableSequence, nextSnapshotNumber,
            UInt64(clears.count),
        ] { buffer.append(field) }
        for clear in clears {
            buffer.append(clear.sequence)
            buffer.append(UInt64(clear.prefix.count))
            buffer.append(clear.prefix)
        }
        for shard in snapshots {
            buffer.append(UInt64(shard.count))
            for snapshot in shard {
                for field in [
                    snapshot.number, snapshot.fileSizeBytes, snapshot.recordCount,
                    snapshot.minimumSequence, snapshot.maximumSequence,
                ] { buffer.append(field) }
            }
        }
        buffer.append(ChecksumSeed(0).checksum(buffer.bytes))
        return buffer
    }

    package enum Reading {
        case valid(ManifestRecord)
        case unsupported(version: UInt32)
        case damaged(offset: UInt64, String)
    }

    package static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        guard let base = bytes.baseAddress, bytes.count >= 20,
            base.load(UInt64.self, at: 0) == magic
        else { return .damaged(offset: 0, "the file does not begin as a manifest") }
        // The version comes before the checksum, which another version may place elsewhere.
        let version = base.load(UInt32.self, at: 8)
        let body = UnsafeRawBufferPointer(rebasing: bytes.dropLast(4))
        guard ChecksumSeed(0).checksum(body) == base.load(UInt32.self, at: body.count) else {
            if version > Limits.formatVersion { return .unsupported(version: version) }
            return .damaged(offset: UInt64(body.count), "the manifest's checksum does not hold")
        }
        guard version == Limits.formatVersion else { return .unsupported(version: version) }
        var reader = FieldReader(bytes: body, offset: 12)
        guard let record = decode(&reader) else {
            return .damaged(offset: UInt64(reader.offset), "the manifest's fields make no sense")
        }
        return .valid(record)
    }

    /// Whether every number can be counted up from, and nothing is listed twice.
    private var isPlausible: Bool {
        let listed = snapshots.joined().map(\.number)
        return firstSegment > 0
            && [generation, firstSegment, flushedSequence, durableSequence, nextSnapshotNumber]
                .allSatisfy { $0 < Limits.number }
            && listed.allSatisfy { $0 < nextSnapshotNumber }
            && Set(listed).count == listed.count
            && Set(clears.map(\.prefix)).count == clears.count
    }

    private static func decode(_ reader: inout FieldReader) -> ManifestRecord? {
        let shardCount = Int(reader.nextHalf())
        guard shardCount > 0, shardCount <= Limits.shardCount, shardCount & (shardCount - 1) == 0
        else { return nil }
        var record = ManifestRecord(
            workspace: .init(first: reader.next(), second: reader.next()),
            hashSeed: .init(first: reader.next(), second: reader.next()), shardCount: shardCount)
        record.generation = reader.next()
        record.firstSegment = reader.next()
        record.flushedSequence = reader.next()
        record.durableSequence = reader.next()
        record.nextSnapshotNumber = reader.next()
        for _ in 0..<reader.nextCount(itemSizeBytes: 17) {
            let sequence = reader.next()
            record.clears.append(.init(prefix: reader.nextBytes(), sequence: sequence))
        }
        for shard in 0..<shardCount {
            for _ in 0..<reader.nextCount(itemSizeBytes: 40) {
                record.snapshots[shard].append(Snapshot(&reader))
            }
        }
        guard !reader.failed, reader.isAtEnd, record.isPlausible else { return nil }
        return record
    }
}

/// Reads numbers in order; once it fails it gives zeros.
private struct FieldReader {
    let bytes: UnsafeRawBufferPointer
    var offset: Int
    var failed = false

    var isAtEnd: Bool { offset == bytes.count }

    mutating func next() -> UInt64 { take(UInt64.self) }
    mutating func nextHalf() -> UInt32 { take(UInt32.self) }

    /// A count of items of at least `itemSizeBytes` each, so no more than the bytes that remain.
    mutating func nextCount(itemSizeBytes: Int) -> Int {
        let count = next()
        guard count <= UInt64((bytes.count - offset) / itemSizeBytes) else {
            failed = true
            return 0
        }
        return Int(count)
    }

    mutating func nextBytes() -> [UInt8] {
        let count = nextCount(itemSizeBytes: 1)
        guard !failed else { return [] }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    private mutating func take<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer {
        let size = MemoryLayout<Integer>.size
        guard !failed, bytes.count - offset >= size, let base = bytes.baseAddress else {
            failed = true
            return 0
        }
        defer { offset += size }
        return base.load(Integer.self, at: offset)
    }
}
