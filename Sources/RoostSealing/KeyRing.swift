import CRoost
import RoostIO

/// The data keys of a directory, which its files are sealed under, or of a copy, for its objects. The file or object
/// `KEYS` has them, sealed under the user's key: so that key can be another one tomorrow, and nothing need be written
/// anew for it.
///
/// - Numbers go up; new files are sealed under the last key.
/// - No key is ever taken out: an old file may be sealed under it.
package struct KeyRing: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let number: UInt64
        package let key: KeyMemory
    }

    private(set) var entries: [Entry]

    package static let fileName = "KEYS"
    package static let newFileName = "KEYS.new"
    private static let magic = Array("ROOSTKEY".utf8)
    private static let version: UInt32 = 1
    private static let derivationLimitBytes = 1 << 10
    private static let entryLimit = 10_000
    private static let entrySizeBytes = 8 + Sealed.keySizeBytes
    package static let sizeLimitBytes = 64 + derivationLimitBytes + entryLimit * entrySizeBytes

    init(_ entries: [Entry]) { self.entries = entries }

    /// What a ring is of: part of the key that seals it, so that one does not open as the other.
    package enum Purpose: String, Sendable {
        case workspace = "roost keys 1"
        case copy = "roost copy keys 1"
    }

    /// One new key.
    package init(random: () -> UInt64) {
        entries = []
        append(random)
    }

    package var newest: Entry { entries[entries.count - 1] }

    package func key(_ number: UInt64) -> KeyMemory? { entries.last { $0.number == number }?.key }

    /// - Throws: `.io` where no more would be read again.
    package mutating func addKey(random: () -> UInt64, path: String) throws {
        guard entries.count < Self.entryLimit else {
            throw RoostError(
                .io,
                "the file of keys has \(entries.count) data keys, as many as are read; nothing was changed. Copy the "
                    + "records into a new workspace", file: path)
        }
        append(random)
    }

    private mutating func append(_ random: () -> UInt64) {
        var key = (0..<Sealed.keySizeBytes / 8).flatMap { _ in
            withUnsafeBytes(of: random()) { Array($0) }
        }
        defer { wipe(&key) }
        let number = (entries.last?.number ?? 0) + 1
        entries.append(Entry(number: number, key: key.withUnsafeBytes(KeyMemory.init)))
    }

    // MARK: On disk

    /// magic (8), version (4), derivation size (4), derivation, salt (32), sealed size (4), the sealed entries
    /// with their tag, CRC of all before (4).
    package func sealed(
        _ suite: any SealingSuite, purpose: Purpose = .workspace, random: () -> UInt64
    ) throws -> [UInt8] {
        let derivation = suite.newDerivation()
        precondition(derivation.count <= Self.derivationLimitBytes, "a derivation is 1 KiB at most")
        var bytes = Self.magic
        bytes.add(Self.version)
        bytes.add(UInt32(derivation.count))
        bytes += derivation
        let salt = (0..<Sealed.saltSizeBytes / 8).flatMap { _ in
            withUnsafeBytes(of: random()) { Array($0) }
        }
        bytes += salt
        var plain: [UInt8] = []
        // Room for all, so that growing leaves no copy behind.
        plain.reserveCapacity(entries.count * Self.entrySizeBytes)
        defer { wipe(&plain) }
        for entry in entries {
            plain.add(entry.number)
            plain += entry.key.bytes
        }
        bytes.add(UInt32(plain.count + Sealed.tagSizeBytes))
        var target = [UInt8](repeating: 0, count: plain.count + Sealed.tagSizeBytes)
        let sealer = try Self.ringSealer(suite, derivation, salt, purpose)
        try plain.withUnsafeBytes { plain in
            try bytes.withUnsafeBytes { context in
                try target.withUnsafeMutableBytes {
                    try sealer.cipher.seal(
                        plain, SealingNonce(position: 0, role: Sealed.Role.ring),
                        authenticating: context, into: $0)
                }
            }
        }
        bytes += target
        bytes.add(bytes.withUnsafeBytes { roost_crc32c(0, $0.baseAddress, $0.count) })
        return bytes
    }

    /// - Throws: `.corrupt` where the bytes are not what was written, `.wrongKey` where they are and the key
    ///   does not open them.
    package init(
        _ bytes: [UInt8], _ suite: any SealingSuite, purpose: Purpose = .workspace, path: String
    ) throws {
        func corrupt(_ offset: Int) -> RoostError {
            RoostError(
                .corrupt,
                "the file of keys is damaged: put a copy of it back, without it nothing can be read",
                file: path, offset: UInt64(offset))
        }
        entries = try bytes.withUnsafeBytes { bytes in
            let end = bytes.count - 4
            guard end >= 52, bytes[..<8].elementsEqual(Self.magic),
                roost_crc32c(0, bytes.baseAddress, end) == bytes.number(at: end, as: UInt32.self)
            else { throw corrupt(0) }
            let version = bytes.number(at: 8, as: UInt32.self)
            guard version == Self.version else {
                throw RoostError(
                    .unsupportedVersion,
                    "the file of keys is of version \(version); this one reads \(Self.version)",
                    file: path, offset: 8)
            }
            let derivationCount = Int(bytes.number(at: 12, as: UInt32.self))
            guard derivationCount <= Self.derivationLimitBytes,
                16 + derivationCount + Sealed.saltSizeBytes + 4 <= end
            else { throw corrupt(12) }
            let saltBegin = 16 + derivationCount
            let sizeOffset = saltBegin + Sealed.saltSizeBytes
            let sealedCount = Int(bytes.number(at: sizeOffset, as: UInt32.self))
            let plainCount = sealedCount - Sealed.tagSizeBytes
            guard sizeOffset + 4 + sealedCount == end, plainCount > 0,
                plainCount.isMultiple(of: Self.entrySizeBytes)
            else { throw corrupt(sizeOffset) }
            let sealer = try Self.ringSealer(
                suite, Array(bytes[16..<saltBegin]), Array(bytes[saltBegin..<sizeOffset]),
                purpose)
            var plain = [UInt8](repeating: 0, count: plainCount)
            defer { wipe(&plain) }
            let isOpen = try plain.withUnsafeMutableBytes {
                try sealer.cipher.open(
                    UnsafeRawBufferPointer(rebasing: bytes[(sizeOffset + 4)..<end]),
                    SealingNonce(position: 0, role: Sealed.Role.ring),
                    authenticating: UnsafeRawBufferPointer(rebasing: bytes[..<(sizeOffset + 4)]),
                    into: $0)
            }
            guard isOpen else {
                throw RoostError(
                    .wrongKey,
                    "the key does not open this \(purpose); nothing was changed",
                    file: path)
            }
            return plain.withUnsafeBytes { plain in
                stride(from: 0, to: plain.count, by: Self.entrySizeBytes).map { place in
                    Entry(
                        number: plain.number(at: place, as: UInt64.self),
                        key: KeyMemory(
                            .init(rebasing: plain[(place + 8)..<(place + Self.entrySizeBytes)])))
                }
            }
        }
    }
}

extension KeyRing {
    /// What the user's key seals and opens the ring with.
    private static func ringSealer(
        _ suite: any SealingSuite, _ derivation: [UInt8], _ salt: [UInt8], _ purpose: Purpose
    ) throws -> Sealer {
        var key = try suite.ringKey(derivation)
        defer { wipe(&key) }
        return suite.sealer(dataKey: key, salt: salt, purpose: purpose.rawValue)
    }
}

/// Writes zeros over a key that is not needed any more. Copies that the language has made of it stay.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { roost_wipe($0.baseAddress, $0.count) }
}
