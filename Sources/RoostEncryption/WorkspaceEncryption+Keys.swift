#if Encryption
    import Crypto
    import Foundation
    import Roost

    extension WorkspaceEncryption {
        /// AES-256-GCM, under keys that only this one opens.
        ///
        /// ```swift
        /// let workspace = try await Workspace.open(
        ///     at: path, configuration: .init(encryption: .key(SymmetricKey(data: bytes))))
        /// ```
        ///
        /// - Parameter key: 256 bits, from a keychain, a secret store or `SymmetricKey(size: .bits256)`. Without it
        ///   nothing in the workspace can ever be read again.
        public static func key(_ key: SymmetricKey) -> WorkspaceEncryption {
            precondition(key.bitCount == 256, "the key of a workspace has 256 bits")
            return WorkspaceEncryption(KeySealing(ask: { key }))
        }

        /// As ``key(_:)``, sealed and opened by `kind`.
        @_spi(Sealing) public static func key(
            _ key: SymmetricKey, by kind: SealingKind
        ) -> WorkspaceEncryption {
            precondition(key.bitCount == 256, "the key of a workspace has 256 bits")
            return WorkspaceEncryption(KeySealing(ask: { key }, kind: kind))
        }

        /// As ``key(_:)``, of a key that is asked for when a workspace is opened, or its key changed: from
        /// a keychain, or a service that keeps keys.
        ///
        /// - Parameter ask: gives 256 bits. It runs on the thread that opens the workspace and may block; what it
        ///   throws, the opening throws.
        public static func key(
            from ask: @escaping @Sendable () throws -> SymmetricKey
        ) -> WorkspaceEncryption {
            WorkspaceEncryption(KeySealing(ask: ask))
        }

        /// AES-256-GCM, under keys that only this passphrase opens: by scrypt (RFC 7914), with a salt of the
        /// workspace's own.
        ///
        /// Each opening derives the key anew, which is to take long: see ``PassphraseCost``.
        public static func passphrase(
            _ text: String, cost: PassphraseCost = .standard
        ) -> WorkspaceEncryption {
            WorkspaceEncryption(PassphraseSealing(passphrase: text, cost: cost))
        }
    }

    /// What deriving a key from a passphrase costs, for its owner once at each opening, for who guesses each time.
    public struct PassphraseCost: Sendable, Hashable {
        /// The cost of scrypt, a power of two: it takes this many KiB of memory.
        let rounds: Int

        /// 64 MiB of memory, and some tenths of a second.
        public static let standard = PassphraseCost(rounds: 1 << 16)
        /// 16 MiB of memory: for phones, and for tests.
        public static let light = PassphraseCost(rounds: 1 << 14)
        /// 256 MiB of memory, and a second or two.
        public static let strong = PassphraseCost(rounds: 1 << 18)
    }
#endif
