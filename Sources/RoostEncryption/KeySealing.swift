#if Encryption
    import Crypto
    import Foundation
    import RoostIO
    import RoostSealing
    import _CryptoExtras

    /// Sealing under a key that is given.
    struct KeySealing: SealingSuite {
        /// What a derivation begins with: on disk, never renumbered.
        static let derivationKind: UInt8 = 1

        let ask: @Sendable () throws -> SymmetricKey
        var kind = SealingKind.standard

        func newDerivation() -> [UInt8] { [Self.derivationKind] }

        func ringKey(_ derivation: [UInt8]) throws -> [UInt8] {
            guard derivation == [Self.derivationKind] else {
                throw RoostError(.wrongKey, "the workspace is opened by a passphrase, not by a key")
            }
            let key = try ask()
            guard key.bitCount == 256 else {
                throw RoostError(.wrongKey, "the key has \(key.bitCount) bits, not 256")
            }
            return key.withUnsafeBytes { Array($0) }
        }

        func sealer(dataKey: [UInt8], salt: [UInt8], purpose: String) -> Sealer {
            aesSealer(dataKey, salt, purpose, kind)
        }
    }

    /// Sealing under a key that scrypt makes of a passphrase.
    ///
    /// The derivation is its kind (1), the logarithm of its cost (1), the block size 8 (1), one lane (1), and
    /// a salt (16).
    struct PassphraseSealing: SealingSuite {
        static let derivationKind: UInt8 = 2
        private static let blockSize = 8
        private static let saltSizeBytes = 16
        /// More than a gibibyte is nobody's workspace, but an attack on who opens it.
        private static let largestLogarithm: UInt8 = 20

        let passphrase: String
        let cost: PassphraseCost
        var kind = SealingKind.standard

        func newDerivation() -> [UInt8] {
            let salt = (0..<Self.saltSizeBytes).map { _ in UInt8.random(in: 0 ... .max) }
            let logarithm = UInt8(cost.rounds.trailingZeroBitCount)
            return [Self.derivationKind, logarithm, UInt8(Self.blockSize), 1] + salt
        }

        func ringKey(_ derivation: [UInt8]) throws -> [UInt8] {
            guard derivation.first == Self.derivationKind else {
                throw RoostError(.wrongKey, "the workspace is opened by a key, not by a passphrase")
            }
            guard derivation.count == 4 + Self.saltSizeBytes,
                derivation[2] == UInt8(Self.blockSize),
                derivation[3] == 1, (10...Self.largestLogarithm).contains(derivation[1])
            else {
                throw RoostError(
                    .unsupportedVersion,
                    "the passphrase is to be derived in a way that is not known")
            }
            guard !passphrase.isEmpty else {
                throw RoostError(.wrongKey, "the passphrase is empty, which protects nothing")
            }
            let key = try KDF.Scrypt.deriveKey(
                from: Data(passphrase.precomposedStringWithCanonicalMapping.utf8),
                salt: Data(derivation[4...]), outputByteCount: Sealed.keySizeBytes,
                rounds: 1 << Int(derivation[1]), blockSize: Self.blockSize, parallelism: 1)
            return key.withUnsafeBytes { Array($0) }
        }

        func sealer(dataKey: [UInt8], salt: [UInt8], purpose: String) -> Sealer {
            aesSealer(dataKey, salt, purpose, kind)
        }
    }

    /// HKDF with SHA-256 (RFC 5869) of a data key: 32 bytes for AES-256-GCM, 16 for hiding lengths.
    private func aesSealer(
        _ dataKey: [UInt8], _ salt: [UInt8], _ purpose: String, _ kind: SealingKind
    ) -> Sealer {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: dataKey), salt: salt, info: Array(purpose.utf8),
            outputByteCount: Sealed.keySizeBytes + 16)
        return derived.withUnsafeBytes { bytes in
            Sealer(
                cipher: kind.cipher(.init(rebasing: bytes[..<Sealed.keySizeBytes])),
                mask: (
                    bytes.loadUnaligned(fromByteOffset: Sealed.keySizeBytes, as: UInt64.self)
                        .littleEndian,
                    bytes.loadUnaligned(fromByteOffset: Sealed.keySizeBytes + 8, as: UInt64.self)
                        .littleEndian
                ))
        }
    }
#endif
