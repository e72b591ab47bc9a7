#if Encryption
    import Crypto
    import Foundation
    import RoostIO
    import RoostSealing

    /// AES-256-GCM (NIST SP 800-38D) by swift-crypto, which takes the key anew each time and makes buffers of its own.
    struct SwiftCryptoCipher: SealingCipher {
        let key: SymmetricKey

        func seal(
            _ plain: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws {
            do {
                let box = try nonce.withBytes { nonce in
                    try AES.GCM.seal(
                        plain, using: key, nonce: AES.GCM.Nonce(data: nonce),
                        authenticating: context)
                }
                // The nonce, the sealed bytes and the tag: copied once, and not each part for itself.
                guard let combined = box.combined else {
                    preconditionFailure("the nonce has the common size")
                }
                combined.withUnsafeBytes { combined in
                    target.copyMemory(
                        from: .init(rebasing: combined[SealingNonce.sizeBytes...]))
                }
            } catch {
                throw RoostError(.io, "bytes could not be sealed", cause: error)
            }
        }

        func open(
            _ sealed: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws -> Bool {
            do {
                var combined = Data(capacity: SealingNonce.sizeBytes + sealed.count)
                nonce.withBytes { combined.add($0) }
                combined.add(sealed)
                let plain = try AES.GCM.open(
                    AES.GCM.SealedBox(combined: combined), using: key, authenticating: context)
                plain.withUnsafeBytes { target.copyMemory(from: $0) }
                return true
            } catch is CryptoKitError {
                // Which of its errors says that the bytes were changed differs from system to system; it has all that it
                // needs, so that no other is to be expected.
                return false
            } catch {
                throw RoostError(.io, "sealed bytes could not be opened", cause: error)
            }
        }
    }

    extension Data {
        fileprivate mutating func add(_ bytes: UnsafeRawBufferPointer) {
            guard let base = bytes.baseAddress else { return }
            append(base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        }
    }
#endif
