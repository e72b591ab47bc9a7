import CRoost
import RoostSealing

/// A cipher for simulated disks: quick, the same in every run, and no protection of anything. It authenticates,
/// so what real ciphers find it finds.
package struct SimulatedSealing: SealingSuite {
    private let secret: UInt64

    package init(secret: UInt64 = 1) { self.secret = secret }

    package func newDerivation() -> [UInt8] { [1, 2, 3] }

    package func ringKey(_ derivation: [UInt8]) throws -> [UInt8] {
        (0..<4).flatMap { part in withUnsafeBytes(of: secret &* 31 &+ part) { Array($0) } }
    }

    package func sealer(dataKey: [UInt8], salt: [UInt8], purpose: String) -> Sealer {
        let all = dataKey + salt + Array(purpose.utf8)
        func derived(_ number: UInt64) -> UInt64 {
            all.withUnsafeBytes { roost_siphash13(number, ~number, $0.baseAddress, $0.count) }
        }
        return Sealer(
            cipher: Cipher(first: derived(1), second: derived(2)),
            mask: (derived(3), derived(4)))
    }

    private struct Cipher: SealingCipher {
        let first: UInt64
        let second: UInt64

        func seal(
            _ plain: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws {
            turn(plain, nonce, into: target)
            let sealed = UnsafeRawBufferPointer(rebasing: target[..<plain.count])
            let tag = tag(sealed, nonce, context)
            target.storeBytes(of: tag.0, toByteOffset: plain.count, as: UInt64.self)
            target.storeBytes(of: tag.1, toByteOffset: plain.count + 8, as: UInt64.self)
        }

        func open(
            _ sealed: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) -> Bool {
            let count = sealed.count - Sealed.tagSizeBytes
            let text = UnsafeRawBufferPointer(rebasing: sealed[..<count])
            let tag = tag(text, nonce, context)
            guard sealed.loadUnaligned(fromByteOffset: count, as: UInt64.self) == tag.0,
                sealed.loadUnaligned(fromByteOffset: count + 8, as: UInt64.self) == tag.1
            else { return false }
            turn(text, nonce, into: target)
            return true
        }

        private func word(_ nonce: SealingNonce, _ index: UInt64) -> UInt64 {
            withUnsafeTemporaryAllocation(byteCount: 24, alignment: 8) { bytes in
                bytes.storeBytes(of: nonce.position, as: UInt64.self)
                bytes.storeBytes(of: UInt64(nonce.role), toByteOffset: 8, as: UInt64.self)
                bytes.storeBytes(of: index, toByteOffset: 16, as: UInt64.self)
                return roost_siphash13(first, second, bytes.baseAddress, 24)
            }
        }

        private func turn(
            _ bytes: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            into target: UnsafeMutableRawBufferPointer
        ) {
            var stream: UInt64 = 0
            for index in bytes.indices {
                if index % 8 == 0 { stream = word(nonce, UInt64(index / 8)) }
                target[index] = bytes[index] ^ UInt8(truncatingIfNeeded: stream)
                stream >>= 8
            }
        }

        private func tag(
            _ sealed: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            _ context: UnsafeRawBufferPointer
        ) -> (UInt64, UInt64) {
            let place = word(nonce, .max)
            let beside = roost_siphash13(place, first, context.baseAddress, context.count)
            return (
                roost_siphash13(beside, second, sealed.baseAddress, sealed.count),
                roost_siphash13(second, beside, sealed.baseAddress, sealed.count)
            )
        }
    }
}
