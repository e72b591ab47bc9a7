import RoostIO

/// The first 64 bytes of a log segment. docs/FORMAT.md, "Segments".
///
/// The salt is random per segment and seeds the checksum of its frames, with the segment's
/// number: bytes left over from another segment never pass as a frame of this one.
package struct SegmentHeader: Equatable, Sendable {
    package static let sizeBytes = 64
    /// What a disk writes at once, at least; the header is at the begin of one.
    package static let sectorSizeBytes = 512
    private static let magic: UInt64 = 0x474f_4c54_534f_4f52  // "ROOSTLOG"

    package var number: UInt64
    /// The sequence number of the first frame.
    package var firstSequence: UInt64
    /// Every batch up to this one was on disk when the segment was begun.
    package var durableSequence: UInt64
    package var workspace: WorkspaceIdentifier
    package var salt: UInt32
    /// What was preallocated, in units of 4 KiB: a shorter file without a seal was cut.
    package var capacityPages: UInt32

    package init(
        number: UInt64, firstSequence: UInt64, durableSequence: UInt64,
        workspace: WorkspaceIdentifier, salt: UInt32, capacityPages: UInt32
    ) {
        self.capacityPages = capacityPages
        self.number = number
        self.firstSequence = firstSequence
        self.durableSequence = durableSequence
        self.workspace = workspace
        self.salt = salt
    }

    package static let pageSizeBytes = 4096
    package var capacityBytes: Int { Int(capacityPages) * Self.pageSizeBytes }
    package var seed: ChecksumSeed { ChecksumSeed(salt).part(number) }

    package func write(to target: UnsafeMutableRawPointer) {
        target.store(Self.magic, at: 0)
        target.store(Limits.formatVersion, at: 8)
        target.store(salt, at: 12)
        target.store(number, at: 16)
        target.store(firstSequence, at: 24)
        target.store(durableSequence, at: 32)
        target.store(workspace.first, at: 40)
        target.store(workspace.second, at: 48)
        target.store(capacityPages, at: 56)
        target.store(ChecksumSeed(0).checksum(target, count: 60), at: 60)
    }

    package enum Reading: Equatable, Sendable {
        case valid(SegmentHeader)
        /// Every byte of it is zero, or the file ends before it does: never begun.
        case blank
        case unsupported(version: UInt32)
        case damaged
    }

    package static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        guard bytes.count >= sizeBytes, let start = bytes.baseAddress else {
            return bytes.allSatisfy { $0 == 0 } ? .blank : .damaged
        }
        if bytes.prefix(sizeBytes).allSatisfy({ $0 == 0 }) { return .blank }
        guard start.load(UInt64.self, at: 0) == magic,
            ChecksumSeed(0).checksum(start, count: 60) == start.load(UInt32.self, at: 60)
        else { return .damaged }
        let version = start.load(UInt32.self, at: 8)
        guard version == Limits.formatVersion else { return .unsupported(version: version) }
        // Batches are counted from one.
        let firstSequence = start.load(UInt64.self, at: 24)
        guard firstSequence > 0 else { return .damaged }
        return .valid(
            SegmentHeader(
                number: start.load(UInt64.self, at: 16), firstSequence: firstSequence,
                durableSequence: start.load(UInt64.self, at: 32),
                workspace: .init(
                    first: start.load(UInt64.self, at: 40), second: start.load(UInt64.self, at: 48)),
                salt: start.load(UInt32.self, at: 12),
                capacityPages: start.load(UInt32.self, at: 56)))
    }
}

/// Sixteen random bytes that tell one workspace's files from another's.
package struct WorkspaceIdentifier: Equatable, Sendable {
    package var first: UInt64
    package var second: UInt64

    package init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    package static func random() -> WorkspaceIdentifier {
        WorkspaceIdentifier(first: .random(in: .min ... .max), second: .random(in: .min ... .max))
    }
}
