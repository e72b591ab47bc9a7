import CRoost
import RoostIO

/// One piece of a journal: its header of 16 bytes, the sealed bytes, and their tag.
struct JournalPiece: Equatable {
    /// On disk; never renumbered.
    enum Kind: UInt8 {
        /// Bytes of the content, at `offset`.
        case write = 1
        /// The content has `offset` bytes from here on: it is cut there, or goes on with zeros.
        case size = 2
        /// As `size`, and the file has `storedSizeBytes(preallocating:)` for it: one that has less was cut.
        case room = 3
    }

    /// How large a file is made whose content is to have `sizeBytes`: with room for what sealing adds to frames
    /// of 140 bytes on average. Where they are smaller the last of them go past it, by calls.
    static func storedSizeBytes(preallocating sizeBytes: UInt64) -> UInt64 {
        sizeBytes + sizeBytes / 4 + 4096
    }

    static let headerSizeBytes = 16
    static let alignment = 8
    /// The most that one write may have.
    static let countLimit = 1 << 31
    private static let offsetLimit: UInt64 = 1 << 48

    let kind: Kind
    let offset: UInt64
    let count: Int

    /// Header, sealed bytes and tag.
    var sealedSizeBytes: Int { Self.headerSizeBytes + count + Sealed.tagSizeBytes }

    /// In the file, with what fills it up to a multiple of eight.
    var storedSizeBytes: Int {
        (sealedSizeBytes + Self.alignment - 1) / Self.alignment * Self.alignment
    }

    /// What stands at the begin, before it is masked: the count (4), the kind (1), zeros (3), the offset (8).
    var words: (UInt64, UInt64) { (UInt64(count) | UInt64(kind.rawValue) << 32, offset) }

    init(kind: Kind, offset: UInt64, count: Int) {
        precondition(count < Self.countLimit, "a piece is below 2 GiB")
        self.kind = kind
        self.offset = offset
        self.count = count
    }

    /// `nil` where the words are no header's.
    init?(_ words: (UInt64, UInt64)) {
        let count = Int(words.0 & 0xffff_ffff)
        guard let kind = Kind(rawValue: UInt8(truncatingIfNeeded: words.0 >> 32)),
            words.0 >> 40 == 0, count < Self.countLimit, words.1 < Self.offsetLimit,
            kind == .write || count == 0
        else { return nil }
        self.kind = kind
        self.count = count
        offset = words.1
    }
}

/// What one opening has written to a journal under one data key: pieces under one key of their own.
struct JournalPart: Sendable {
    /// A part's header stands at a multiple of it.
    static let alignment: UInt64 = 4096

    let sealer: Sealer
    /// Of the data key.
    let keyNumber: UInt64

    /// Lays a piece out as it stands in the file at `place`.
    func seal(
        _ piece: JournalPiece, _ bytes: UnsafeRawBufferPointer, at place: UInt64,
        into target: UnsafeMutableRawBufferPointer
    ) throws {
        let (first, second) = piece.words
        target.storeBytes(of: (first ^ mask(place, 0)).littleEndian, as: UInt64.self)
        target.storeBytes(
            of: (second ^ mask(place, 1)).littleEndian, toByteOffset: 8, as: UInt64.self)
        let end = JournalPiece.headerSizeBytes + bytes.count + Sealed.tagSizeBytes
        try withContext(piece) { context in
            try sealer.cipher.seal(
                bytes, SealingNonce(position: place, role: Sealed.Role.piece),
                authenticating: context,
                into: .init(rebasing: target[JournalPiece.headerSizeBytes..<end]))
        }
        var filling = mask(place, 2)
        for index in end..<target.count {
            target[index] = UInt8(truncatingIfNeeded: filling)
            filling >>= 8
        }
    }

    /// The header of a piece at `place`; `nil` where none can be.
    func piece(_ bytes: UnsafeRawBufferPointer, at place: UInt64) -> JournalPiece? {
        guard let piece = header(bytes, at: place), piece.sealedSizeBytes <= bytes.count else {
            return nil
        }
        return piece
    }

    /// As `piece`, also of one that is longer than the bytes.
    func header(_ bytes: UnsafeRawBufferPointer, at place: UInt64) -> JournalPiece? {
        guard bytes.count >= JournalPiece.headerSizeBytes else { return nil }
        return JournalPiece(
            (
                bytes.number(at: 0, as: UInt64.self) ^ mask(place, 0),
                bytes.number(at: 8, as: UInt64.self) ^ mask(place, 1)
            ))
    }

    /// Opens a piece whose header stands at the begin of `bytes`; `false` where it is not what was sealed.
    func open(
        _ piece: JournalPiece, _ bytes: UnsafeRawBufferPointer, at place: UInt64,
        into target: UnsafeMutableRawBufferPointer
    ) throws -> Bool {
        let sealed = bytes[JournalPiece.headerSizeBytes..<piece.sealedSizeBytes]
        return try withContext(piece) { context in
            try sealer.cipher.open(
                UnsafeRawBufferPointer(rebasing: sealed),
                SealingNonce(position: place, role: Sealed.Role.piece), authenticating: context,
                into: target)
        }
    }

    private func withContext<Result>(
        _ piece: JournalPiece, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let words = piece.words
        return try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
            bytes.storeBytes(of: words.0.littleEndian, as: UInt64.self)
            bytes.storeBytes(of: words.1.littleEndian, toByteOffset: 8, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Bits that hide what stands at `place`.
    private func mask(_ place: UInt64, _ index: UInt64) -> UInt64 {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
            bytes.storeBytes(of: place.littleEndian, as: UInt64.self)
            bytes.storeBytes(of: index.littleEndian, toByteOffset: 8, as: UInt64.self)
            return roost_siphash13(sealer.mask.first, sealer.mask.second, bytes.baseAddress, 16)
        }
    }
}

/// Room for the content of one piece after the other.
struct OpenedPiece: Sendable {
    private var bytes: [UInt8] = []

    private static let largestKeptSizeBytes = 64 << 10

    /// The content of a piece where `open`, which puts it in place, says that it is whole; else `nil`.
    mutating func content(
        of piece: JournalPiece, _ open: (UnsafeMutableRawBufferPointer) throws -> Bool
    ) rethrows -> ArraySlice<UInt8>? {
        if bytes.count < piece.count {
            bytes = [UInt8](repeating: 0, count: max(piece.count, 4096))
        }
        let isWhole = try bytes.withUnsafeMutableBytes {
            try open(.init(rebasing: $0[..<piece.count]))
        }
        return isWhole ? bytes[..<piece.count] : nil
    }

    /// Keeps no room for one large piece.
    mutating func shrink() {
        if bytes.count > Self.largestKeptSizeBytes { bytes = [] }
    }
}
