#if Replica
    import Roost
    import RoostSealing

    /// The form of a sealed object: a header, and the content in chunks, each with a tag. docs/REPLICA.md has it to
    /// the byte.
    ///
    /// - Sizes follow from each other, so that an object's size is known before anything is sealed, and any part
    ///   of it can be made of the part of the content that it holds.
    enum SealedObject {
        static let magic = Array("ROSTSEAL".utf8)
        static let version: UInt32 = 1
        static let headerSizeBytes = 56
        /// Of the content; the last chunk may be shorter, or empty where all is.
        static let chunkSizeBytes: UInt64 = 64 << 10
        static let storedChunkSizeBytes = chunkSizeBytes + UInt64(Sealed.tagSizeBytes)
        /// What the key of an object is for.
        static let purpose = "roost copy object 1"

        /// Which key an object is sealed under: plain, at its begin.
        struct Header: Sendable, Equatable {
            /// The number of the data key.
            var keyNumber: UInt64
            /// Used for this object alone.
            var salt: [UInt8]

            var bytes: [UInt8] {
                var writer = FieldWriter()
                writer.append(raw: magic)
                writer.append(version)
                writer.append(UInt32(0))
                writer.append(keyNumber)
                writer.append(raw: salt)
                return writer.bytes
            }
        }

        static func isSealed(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

        /// - Throws: `.corrupt` where the bytes are no header, `.unsupportedVersion`.
        static func header(_ bytes: [UInt8], name: String) throws -> Header {
            guard isSealed(bytes) else {
                throw RoostError(
                    .corrupt,
                    "the object is not sealed, as all of this copy are: it is damaged, or was written "
                        + "without the key", file: name, offset: 0)
            }
            var reader = FieldReader(checked: bytes, name: name)
            _ = try reader.take(magic.count)
            let version = try reader.half()
            guard version == Self.version, try reader.half() == 0 else {
                throw RoostError(
                    .unsupportedVersion,
                    "the object is sealed in form \(version); this version opens \(Self.version)",
                    file: name, offset: UInt64(magic.count))
            }
            return Header(
                keyNumber: try reader.word(), salt: Array(try reader.take(Sealed.saltSizeBytes)))
        }

        // MARK: Sizes

        static func chunkCount(ofPlain sizeBytes: UInt64) -> UInt64 {
            max(1, (sizeBytes + chunkSizeBytes - 1) / chunkSizeBytes)
        }

        static func storedSizeBytes(ofPlain sizeBytes: UInt64) -> UInt64 {
            UInt64(headerSizeBytes) + sizeBytes
                + chunkCount(ofPlain: sizeBytes) * UInt64(Sealed.tagSizeBytes)
        }

        /// `nil` where no sealed object has this size.
        static func plainSizeBytes(ofStored sizeBytes: UInt64) -> UInt64? {
            let (header, tag) = (UInt64(headerSizeBytes), UInt64(Sealed.tagSizeBytes))
            guard sizeBytes >= header + tag else { return nil }
            let chunks = sizeBytes - header
            let count = (chunks + storedChunkSizeBytes - 1) / storedChunkSizeBytes
            let last = chunks - (count - 1) * storedChunkSizeBytes
            guard last > tag || (last == tag && count == 1) else { return nil }
            return chunks - count * tag
        }
    }
#endif
