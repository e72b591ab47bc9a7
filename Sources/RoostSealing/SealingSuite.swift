/// The cryptography that sealed files stand on, so that this target and the library need no package for
/// it: the product `RoostEncryption` has the real one.
package protocol SealingSuite: Sendable {
    /// What the user's key is derived from, for a new ring of keys: a salt and what the derivation costs. Not
    /// secret; at most 1 KiB.
    func newDerivation() -> [UInt8]

    /// The key of 32 bytes that the ring is sealed under. May take a while; blocks.
    ///
    /// - Throws: `.wrongKey` where this kind of key does not fit the derivation; what asking for the key throws.
    func ringKey(_ derivation: [UInt8]) throws -> [UInt8]

    /// What one file, or one opening's part of one, is sealed with: both from a data key of 32 bytes, a salt that
    /// is used once, and what it is for.
    func sealer(dataKey: [UInt8], salt: [UInt8], purpose: String) -> Sealer
}

/// A cipher, and a secret for hiding lengths.
package struct Sealer: Sendable {
    package let cipher: any SealingCipher
    package let mask: (first: UInt64, second: UInt64)

    package init(cipher: any SealingCipher, mask: (first: UInt64, second: UInt64)) {
        self.cipher = cipher
        self.mask = mask
    }
}

/// An authenticated cipher under one key.
package protocol SealingCipher: Sendable {
    /// Writes the sealed bytes and a tag, `plain.count` and ``Sealed/tagSizeBytes``, to `target`. One
    /// nonce is never used for two different contents.
    func seal(
        _ plain: UnsafeRawBufferPointer, _ nonce: SealingNonce,
        authenticating context: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) throws

    /// Writes what was sealed to `target`; `false` where the bytes are not what was sealed, at this place and
    /// beside this context.
    ///
    /// - Throws: `.io` where that could not be tried: what may be whole is not called damaged.
    func open(
        _ sealed: UnsafeRawBufferPointer, _ nonce: SealingNonce,
        authenticating context: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) throws -> Bool
}

/// Where in a file something is sealed, and as what.
package struct SealingNonce: Sendable, Equatable {
    package var position: UInt64
    package var role: UInt32

    package static let sizeBytes = 12

    package init(position: UInt64, role: UInt32) {
        self.position = position
        self.role = role
    }

    /// The bytes of a nonce.
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withUnsafeTemporaryAllocation(byteCount: Self.sizeBytes, alignment: 8) { bytes in
            bytes.storeBytes(of: position.littleEndian, as: UInt64.self)
            bytes.storeBytes(of: role.littleEndian, toByteOffset: 8, as: UInt32.self)
            return try body(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// Sizes and roles on disk; never renumbered. docs/FORMAT.md, "Sealed files".
package enum Sealed {
    package static let tagSizeBytes = 16
    package static let keySizeBytes = 32
    package static let saltSizeBytes = 32

    /// What a nonce's role says.
    package enum Role {
        static let ring: UInt32 = 1
        package static let chunk: UInt32 = 2
        package static let lastChunk: UInt32 = 3
        static let piece: UInt32 = 4
    }
}
