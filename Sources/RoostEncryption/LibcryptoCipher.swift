#if OpenSSL
    import CLibcrypto
    import RoostIO
    import RoostSealing
    import Synchronization

    /// AES-256-GCM (NIST SP 800-38D) by OpenSSL's libcrypto, from and into the caller's memory.
    ///
    /// - A context has the key's schedule, so that a nonce is all that is set for each use. No two threads ever use one
    ///   at once: who takes one from its slot has it alone until it is put back. Where the slots are empty a context
    ///   is made, and goes again where they are full.
    /// - Contexts and the key are overwritten with zeros when the last reference goes (`EVP_CIPHER_CTX_free`,
    ///   `KeyMemory`).
    final class LibcryptoCipher: SealingCipher {
        private let key: KeyMemory
        private let sealing = Slots()
        private let opening = Slots()

        init(key: UnsafeRawBufferPointer) {
            precondition(key.count == Sealed.keySizeBytes, "the key of a file has 256 bits")
            self.key = KeyMemory(key)
        }

        func seal(
            _ plain: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating beside: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws {
            precondition(
                target.count >= plain.count + Sealed.tagSizeBytes, "there is room for a tag")
            let isSealed = sealing.with(key, isSealing: true) { context in
                nonce.withBytes { nonce in
                    roost_gcm_seal(
                        context, nonce.assumingBytes, beside.baseAddress, beside.count,
                        plain.baseAddress, plain.count, target.assumingBytes) != 0
                }
            }
            if isSealed != true { throw RoostError(.io, "bytes could not be sealed") }
        }

        func open(
            _ sealed: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating beside: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws -> Bool {
            let count = sealed.count - Sealed.tagSizeBytes
            precondition(count >= 0 && target.count >= count, "there is room for the content")
            let answer = opening.with(key, isSealing: false) { context in
                nonce.withBytes { nonce in
                    // Of an empty chunk there is nothing to write.
                    withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { none in
                        roost_gcm_open(
                            context, nonce.assumingBytes, beside.baseAddress, beside.count,
                            sealed.assumingBytes, count,
                            count == 0 ? none.assumingBytes : target.assumingBytes)
                    }
                }
            }
            if answer == 1 { return true }
            // Nobody has vouched for what stands there now.
            target.initializeMemory(as: UInt8.self, repeating: 0)
            if answer == 0 { return false }
            throw RoostError(.io, "libcrypto could not open sealed bytes")
        }
    }

    extension UnsafeRawBufferPointer {
        fileprivate var assumingBytes: UnsafePointer<UInt8>? {
            baseAddress?.assumingMemoryBound(to: UInt8.self)
        }
    }

    extension UnsafeMutableRawBufferPointer {
        fileprivate var assumingBytes: UnsafeMutablePointer<UInt8>? {
            baseAddress?.assumingMemoryBound(to: UInt8.self)
        }
    }

    /// The contexts of one key that nobody uses now.
    private final class Slots: Sendable {
        /// Addresses of contexts, and zero where a slot is empty.
        private let first = Atomic<UInt>(0)
        private let second = Atomic<UInt>(0)

        deinit {
            for address in [take(), take()] { Self.free(address) }
        }

        /// `nil` where libcrypto gives no context.
        func with<Result>(
            _ key: KeyMemory, isSealing: Bool, _ body: (OpaquePointer) -> Result
        ) -> Result? {
            var address = take()
            if address == 0 { address = Self.make(key, isSealing) }
            guard let context = OpaquePointer(bitPattern: address) else { return nil }
            defer { give(address) }
            return body(context)
        }

        private func take() -> UInt {
            let address = first.exchange(0, ordering: .acquiring)
            return address != 0 ? address : second.exchange(0, ordering: .acquiring)
        }

        private func give(_ address: UInt) {
            let other = first.exchange(address, ordering: .acquiringAndReleasing)
            if other == 0 { return }
            Self.free(second.exchange(other, ordering: .acquiringAndReleasing))
        }

        private static func make(_ key: KeyMemory, _ isSealing: Bool) -> UInt {
            guard let cipher = OpaquePointer(bitPattern: cipher) else { return 0 }
            let context = roost_gcm_begin(
                cipher, key.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                isSealing ? 1 : 0)
            return UInt(bitPattern: context)
        }

        private static func free(_ address: UInt) {
            EVP_CIPHER_CTX_free(OpaquePointer(bitPattern: address))
        }

        /// Looked up once: each look-up takes longer than a sealing. Kept as long as the process lives.
        private static let cipher = UInt(bitPattern: roost_gcm_cipher())
    }
#endif
