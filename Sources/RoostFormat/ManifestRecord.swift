import RoostIO

/// The durable list of a workspace's live files, as one checksummed record.
/// docs/FORMAT.md, "Manifest".
package struct ManifestRecord: Equatable, Sendable {
    /// A snapshot that the workspace rests on, and from which record key on it counts.
    package struct Snapshot: Equatable, Sendable {
        package var number: UInt64
        package var fileSizeBytes: UInt64
        package var recordCount: UInt64
        package var minimumSequence: UInt64
        package var maximumSequence: UInt64
        /// The file's records before this key, where it has any, count no more.
        package var lowerBound: [UInt8]
        /// Whether the file may have records before `lowerBound`: a merge has taken them over.
        package var isTrimmed = false

        package init(footer: SnapshotFooter, lowerBound: [UInt8]) {
            number = footer.number
            fileSizeBytes = footer.fileSizeBytes
            recordCount = footer.recordCount
            minimumSequence = footer.minimumSequence
            maximumSequence = footer.maximumSequence
            self.lowerBound = lowerBound
        }

        /// Whether what it says can be counted with.
        fileprivate var isPlausible: Bool {
            fileSizeBytes <= Limits.fileSizeBytes && recordCount < Limits.number
                && maximumSequence < Limits.number
                // Where there are no records they are the wrong way round.
                && (minimumSequence <= maximumSequence || recordCount == 0)
        }

        /// Whether `footer` is of the file that is listed.
        package func isOf(_ footer: SnapshotFooter) -> Bool {
            footer.number == number && footer.fileSizeBytes == fileSizeBytes
                && footer.recordCount == recordCount && footer.minimumSequence == minimumSequence
                && footer.maximumSequence == maximumSequence
        }

        fileprivate init(_ reader: inout FieldReader) {
            number = reader.next()
            fileSizeBytes = reader.next()
            recordCount = reader.next()
            minimumSequence = reader.next()
            maximumSequence = reader.next()
            isTrimmed = reader.nextFlag()
            lowerBound = reader.nextBytes()
        }

        fileprivate func encode(into buffer: inout OutputBuffer) {
            for field in [
                number, fileSizeBytes, recordCount, minimumSequence, maximumSequence,
                isTrimmed ? 1 : 0, UInt64(lowerBound.count),
            ] { buffer.append(field) }
            buffer.append(lowerBound)
        }
    }

    /// Snapshots of disjoint ranges of keys, in key order: each reaches to the next one's lower bound.
    package typealias Tier = [Snapshot]

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
    /// The newest first: of a key's records, that in the first tier which has one counts.
    package var tiers: [Tier] = []

    package init(workspace: WorkspaceIdentifier, hashSeed: HashSeed) {
        self.workspace = workspace
        self.hashSeed = hashSeed
    }

    /// The snapshots of all tiers.
    package var snapshots: [Snapshot] { Array(tiers.joined()) }

    private static let magic: UInt64 = 0x4e41_4d54_534f_4f52  // "ROOSTMAN"

    package func encoded() -> OutputBuffer {
        var buffer = OutputBuffer()
        buffer.append(Self.magic)
        buffer.append(Limits.formatVersion)
        buffer.append(UInt32(tiers.count))
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
        for tier in tiers {
            buffer.append(UInt64(tier.count))
            for snapshot in tier { snapshot.encode(into: &buffer) }
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

    /// Whether every number can be counted up from, nothing is listed twice, and every tier is in
    /// key order.
    package var isPlausible: Bool {
        let listed = snapshots.map(\.number)
        return firstSegment > 0
            && [generation, firstSegment, flushedSequence, durableSequence, nextSnapshotNumber]
                .allSatisfy { $0 < Limits.number }
            && listed.allSatisfy { $0 < nextSnapshotNumber }
            && snapshots.allSatisfy(\.isPlausible)
            && clears.allSatisfy { $0.sequence < Limits.number }
            && Set(listed).count == listed.count
            && Set(clears.map(\.prefix)).count == clears.count
            && tiers.allSatisfy { !$0.isEmpty && Self.isInOrder($0) }
    }

    private static func isInOrder(_ tier: Tier) -> Bool {
        tier.allSatisfy { $0.lowerBound.count <= Limits.recordKeySizeBytes }
            && zip(tier, tier.dropFirst()).allSatisfy {
                $0.lowerBound.lexicographicallyPrecedes($1.lowerBound)
            }
    }

    private static func decode(_ reader: inout FieldReader) -> ManifestRecord? {
        let tierCount = reader.nextHalf()
        var record = ManifestRecord(
            workspace: .init(first: reader.next(), second: reader.next()),
            hashSeed: .init(first: reader.next(), second: reader.next()))
        record.generation = reader.next()
        record.firstSegment = reader.next()
        record.flushedSequence = reader.next()
        record.durableSequence = reader.next()
        record.nextSnapshotNumber = reader.next()
        for _ in 0..<reader.nextCount(itemSizeBytes: 17) {
            let sequence = reader.next()
            record.clears.append(.init(prefix: reader.nextBytes(), sequence: sequence))
        }
        for _ in 0..<tierCount {
            if reader.failed { return nil }
            var tier: Tier = []
            for _ in 0..<reader.nextCount(itemSizeBytes: 56) { tier.append(Snapshot(&reader)) }
            record.tiers.append(tier)
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

    mutating func nextFlag() -> Bool {
        let flag = next()
        if flag > 1 { failed = true }
        return flag == 1
    }

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
