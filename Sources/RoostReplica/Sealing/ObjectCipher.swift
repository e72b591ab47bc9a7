#if Replica
    import Roost
    import RoostSealing

    /// Seals and opens the chunks of one object, under a key that is this object's alone.
    ///
    /// - A chunk's nonce is its number, and whether it is the last: so chunks that were swapped do not open, nor does
    ///   an object that was cut between two.
    /// - The header and the object's name are authenticated with each chunk: an object that stands under another
    ///   name does not open.
    struct ObjectCipher: Sendable {
        private let cipher: any SealingCipher
        private let context: [UInt8]

        init(_ sealer: Sealer, _ header: SealedObject.Header, name: String) {
            cipher = sealer.cipher
            context = header.bytes + Array(name.utf8)
        }

        private func nonce(_ number: UInt64, isLast: Bool) -> SealingNonce {
            SealingNonce(
                position: number, role: isLast ? Sealed.Role.lastChunk : Sealed.Role.chunk)
        }

        /// The chunks from the one of number `first` on, of an object with `sizeBytes` bytes of content.
        ///
        /// - Parameter plain: The content from that chunk's begin to the end of another, or of all.
        func seal(_ plain: [UInt8], fromChunk first: UInt64, of sizeBytes: UInt64) throws -> [UInt8]
        {
            let count = SealedObject.chunkCount(ofPlain: sizeBytes)
            let size = Int(SealedObject.chunkSizeBytes)
            let chunkCount = max(1, (plain.count + size - 1) / size)
            var sealed = [UInt8](
                repeating: 0, count: plain.count + chunkCount * Sealed.tagSizeBytes)
            try sealed.withUnsafeMutableBytes { sealed in
                try plain.withUnsafeBytes { plain in
                    for index in 0..<chunkCount {
                        let begin = index * size
                        let end = min(begin + size, plain.count)
                        let number = first + UInt64(index)
                        let target = begin + index * Sealed.tagSizeBytes
                        try context.withUnsafeBytes { context in
                            try cipher.seal(
                                .init(rebasing: plain[begin..<end]),
                                nonce(number, isLast: number == count - 1),
                                authenticating: context,
                                into: .init(
                                    rebasing: sealed[
                                        target..<(target + end - begin + Sealed.tagSizeBytes)]))
                        }
                    }
                }
            }
            return sealed
        }

        /// The content of a chunk; `nil` where it is not what was sealed as this chunk of this object.
        func open(_ sealed: ArraySlice<UInt8>, chunk number: UInt64, isLast: Bool) throws
            -> [UInt8]?
        {
            guard sealed.count >= Sealed.tagSizeBytes else { return nil }
            var plain = [UInt8](repeating: 0, count: sealed.count - Sealed.tagSizeBytes)
            let isOpen = try plain.withUnsafeMutableBytes { plain in
                try sealed.withUnsafeBytes { sealed in
                    try context.withUnsafeBytes { context in
                        try cipher.open(
                            sealed, nonce(number, isLast: isLast), authenticating: context,
                            into: plain)
                    }
                }
            }
            return isOpen ? plain : nil
        }
    }
#endif
