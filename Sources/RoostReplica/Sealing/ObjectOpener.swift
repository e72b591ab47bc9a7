#if Replica
    import Roost
    import RoostSealing

    /// Opens an object that comes in pieces, of any sizes. What it hands on is what was sealed, chunk by chunk; that
    /// the object is whole is known when `finish` returns.
    struct ObjectOpener {
        private let keys: CopyKeys
        private let name: String
        private var cipher: ObjectCipher?
        /// What came and is not open yet: a chunk at the most, between two calls.
        private var pending: [UInt8] = []
        private var chunkNumber: UInt64 = 0
        /// Of the next chunk.
        private var offset = UInt64(SealedObject.headerSizeBytes)

        init(_ keys: CopyKeys, name: String) {
            self.keys = keys
            self.name = name
        }

        /// Takes the next piece; returns what can be opened by now.
        ///
        /// - Throws: `.corrupt`, `.unsupportedVersion`.
        mutating func open(_ piece: [UInt8]) throws -> [UInt8] {
            pending += piece
            if cipher == nil {
                guard pending.count >= SealedObject.headerSizeBytes else { return [] }
                let bytes = Array(pending.prefix(SealedObject.headerSizeBytes))
                cipher = try keys.cipher(SealedObject.header(bytes, name: name), name: name)
                pending.removeFirst(SealedObject.headerSizeBytes)
            }
            let size = Int(SealedObject.storedChunkSizeBytes)
            var plain: [UInt8] = []
            var begin = 0
            // One that nothing follows yet may be the last.
            while pending.count - begin > size {
                plain += try open(pending[begin..<(begin + size)], isLast: false)
                begin += size
            }
            pending.removeFirst(begin)
            return plain
        }

        /// Nothing more comes: the content of the last chunk.
        ///
        /// - Throws: `.corrupt` where the object is cut, or its end was changed.
        mutating func finish() throws -> [UInt8] {
            defer { pending = [] }
            return try open(pending[...], isLast: true)
        }

        private mutating func open(_ chunk: ArraySlice<UInt8>, isLast: Bool) throws -> [UInt8] {
            guard let plain = try cipher?.open(chunk, chunk: chunkNumber, isLast: isLast) else {
                throw damaged()
            }
            chunkNumber += 1
            offset += UInt64(chunk.count)
            return plain
        }

        private func damaged() -> RoostError {
            RoostError(
                .corrupt,
                "the object does not open: it was changed or cut, or stands under another's name",
                file: name, offset: offset)
        }
    }
#endif
