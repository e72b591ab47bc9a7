import CRoost
import RoostIO

/// The 64 plain bytes that a sealed file begins with, and in a journal each opening's part of it: they say
/// which data key it is sealed under, and the salt that makes the key its own.
///
/// docs/FORMAT.md, "Sealed files".
struct SealedHeader: Equatable {
    /// On disk; never renumbered.
    enum Kind: UInt32 {
        /// Written once from begin to end: chunks of one size.
        case chunks = 1
        /// Written in pieces of any size, wherever they belong.
        case journal = 2
    }

    static let sizeBytes = 64
    static let magic = sealedFileMagic
    private static let version: UInt32 = 1

    let kind: Kind
    let keyNumber: UInt64
    let salt: [UInt8]

    init(kind: Kind, keyNumber: UInt64, random: () -> UInt64) {
        self.kind = kind
        self.keyNumber = keyNumber
        salt = (0..<Sealed.saltSizeBytes / 8).flatMap { _ in
            withUnsafeBytes(of: random().littleEndian) { Array($0) }
        }
    }

    /// `nil` where the bytes are no header, or damaged.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.sizeBytes, bytes[..<8].elementsEqual(Self.magic),
            bytes.number(at: 8, as: UInt32.self) == Self.version,
            let kind = Kind(rawValue: bytes.number(at: 12, as: UInt32.self)),
            roost_crc32c(0, bytes.baseAddress, 60) == bytes.number(at: 60, as: UInt32.self)
        else { return nil }
        self.kind = kind
        keyNumber = bytes.number(at: 16, as: UInt64.self)
        salt = Array(bytes[24..<24 + Sealed.saltSizeBytes])
    }

    var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.add(Self.version)
        bytes.add(kind.rawValue)
        bytes.add(keyNumber)
        bytes += salt
        bytes.add(UInt32(0))
        bytes.add(bytes.withUnsafeBytes { roost_crc32c(0, $0.baseAddress, $0.count) })
        return bytes
    }

    /// What the file's key is for, so that none is used for another kind.
    var purpose: String { kind == .chunks ? "roost chunks 1" : "roost journal 1" }
}

extension UnsafeRawBufferPointer {
    /// A little-endian number, wherever it stands.
    func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

extension [UInt8] {
    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
