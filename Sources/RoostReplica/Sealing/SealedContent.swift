#if Replica
    import Roost
    import RoostSealing
    import Synchronization

    /// What an object is to hold, sealed as it is read, a range at a time and as often as it is asked for.
    ///
    /// - The salt is chosen once, so the same range gives the same bytes.
    /// - No two contents are ever sealed under one key and nonce and handed on: of each chunk the tag is kept, and
    ///   a chunk that has another tag when it is read again is refused.
    final class SealedContent: Sendable {
        private struct Tag: Equatable {
            var first: UInt64
            var second: UInt64
        }

        private let plain: ObjectContent
        private let header: [UInt8]
        private let cipher: ObjectCipher
        private let name: String
        private let tags = Mutex<[UInt64: Tag]>([:])

        init(_ plain: ObjectContent, name: String, _ keys: CopyKeys) throws {
            self.plain = plain
            self.name = name
            let header = keys.newHeader()
            self.header = header.bytes
            cipher = try keys.cipher(header, name: name)
        }

        /// The object, as it is to be stored.
        var content: ObjectContent {
            ObjectContent(
                sizeBytes: SealedObject.storedSizeBytes(ofPlain: plain.sizeBytes)
            ) { range in try await self.read(range) }
        }

        private func read(_ range: Range<UInt64>) async throws -> [UInt8] {
            let begin = UInt64(header.count)
            var bytes: [UInt8] = []
            if range.lowerBound < begin {
                bytes += header[Int(range.lowerBound)..<Int(min(range.upperBound, begin))]
            }
            guard range.upperBound > begin else { return bytes }
            let stored = SealedObject.storedChunkSizeBytes
            // Within the chunks.
            let (from, end) = (max(range.lowerBound, begin) - begin, range.upperBound - begin)
            guard from < end else { return bytes }
            let (first, last) = (from / stored, (end - 1) / stored)
            let chunks = try await seal(first...last)
            let skipped = first * stored
            return bytes + chunks[Int(from - skipped)..<Int(end - skipped)]
        }

        private func seal(_ chunks: ClosedRange<UInt64>) async throws -> [UInt8] {
            let size = SealedObject.chunkSizeBytes
            let range =
                chunks.lowerBound * size..<min((chunks.upperBound + 1) * size, plain.sizeBytes)
            let bytes = try await plain.read(range)
            guard bytes.count == range.count else {
                throw RoostError(.io, "what is to be stored ends early", file: name)
            }
            let sealed = try cipher.seal(bytes, fromChunk: chunks.lowerBound, of: plain.sizeBytes)
            try check(sealed, chunks)
            return sealed
        }

        private func check(_ sealed: [UInt8], _ chunks: ClosedRange<UInt64>) throws {
            let size = Int(SealedObject.storedChunkSizeBytes)
            let found = sealed.withUnsafeBytes { sealed in
                chunks.map { number in
                    let end = min(Int(number - chunks.lowerBound + 1) * size, sealed.count)
                    let place = end - Sealed.tagSizeBytes
                    return Tag(
                        first: sealed.loadUnaligned(fromByteOffset: place, as: UInt64.self),
                        second: sealed.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self))
                }
            }
            let isSame = tags.withLock { tags in
                for (number, tag) in zip(chunks, found) {
                    if let earlier = tags[number], earlier != tag { return false }
                    tags[number] = tag
                }
                return true
            }
            guard isSame else {
                throw RoostError(
                    .io, "what is to be stored was not the same when it was read again", file: name)
            }
        }
    }
#endif
