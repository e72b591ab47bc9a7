#if Encryption
    import Crypto
    import RoostSealing

    /// Who seals: all of them write and read the same bytes. For tests and measurements; a workspace has the quickest
    /// that is built in.
    @_spi(Sealing) public enum SealingKind: Sendable, CaseIterable {
        /// Apple's swift-crypto.
        case swiftCrypto
        #if OpenSSL
            /// The system's OpenSSL.
            case libcrypto
        #endif

        @_spi(Sealing) public static var standard: SealingKind {
            #if OpenSSL
                .libcrypto
            #else
                .swiftCrypto
            #endif
        }

        /// - Parameter key: 256 bits.
        func cipher(_ key: UnsafeRawBufferPointer) -> any SealingCipher {
            switch self {
            case .swiftCrypto: SwiftCryptoCipher(key: SymmetricKey(data: key))
            #if OpenSSL
                case .libcrypto: LibcryptoCipher(key: key)
            #endif
            }
        }
    }

    // For tests against published answers.
    @_spi(Sealing) extension SealingKind {
        /// The sealed bytes and their tag. The nonce is the position (8 bytes, little-endian) and the role (4).
        public func seal(
            _ plain: [UInt8], key: [UInt8], position: UInt64, role: UInt32, beside: [UInt8]
        ) throws -> [UInt8] {
            var target = [UInt8](repeating: 0, count: plain.count + Sealed.tagSizeBytes)
            let cipher = key.withUnsafeBytes(cipher)
            try target.withUnsafeMutableBytes { target in
                try cipher.seal(
                    plain, SealingNonce(position: position, role: role), beside, into: target)
            }
            return target
        }

        /// Whether the bytes are what was sealed, and what was written to memory that had ones in all bits.
        public func open(
            _ sealed: [UInt8], key: [UInt8], position: UInt64, role: UInt32, beside: [UInt8]
        ) throws -> (isOpen: Bool, bytes: [UInt8]) {
            var target = [UInt8](repeating: .max, count: sealed.count - Sealed.tagSizeBytes)
            let cipher = key.withUnsafeBytes(cipher)
            let isOpen = try target.withUnsafeMutableBytes { target in
                try sealed.withUnsafeBytes { sealed in
                    try beside.withUnsafeBytes { beside in
                        try cipher.open(
                            sealed, SealingNonce(position: position, role: role),
                            authenticating: beside, into: target)
                    }
                }
            }
            return (isOpen, target)
        }
    }

    extension SealingCipher {
        fileprivate func seal(
            _ plain: [UInt8], _ nonce: SealingNonce, _ beside: [UInt8],
            into target: UnsafeMutableRawBufferPointer
        ) throws {
            try plain.withUnsafeBytes { plain in
                try beside.withUnsafeBytes { beside in
                    try seal(plain, nonce, authenticating: beside, into: target)
                }
            }
        }
    }
#endif
