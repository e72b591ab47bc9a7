#if Replica
    import Roost
    import RoostEngine

    /// One object of the journal, which is all that happened under a prefix, in one order.
    ///
    /// - Each is written once, by `putIfAbsent` under the next index: so there is one journal, whoever
    ///   writes to it.
    /// - Only the writer of the last takeover adds to it. Where another finds its place taken by somebody
    ///   else's entry, it is overtaken.
    /// - Every entry says where the history stands after it, so that the last one says all that a
    ///   writer has to know.
    struct JournalEntry: Sendable, Equatable {
        /// In objects: never renumber; zero is never valid.
        enum Kind: UInt32, Sendable {
            /// A writer begins; from here on no earlier one adds anything.
            case takeover = 1
            /// A history begins after a batch whose state a base will hold.
            case start = 2
            /// Batches, or none: a sign of life.
            case frames = 3
            /// A base that is complete.
            case base = 4
            /// What is about to be removed: it must not be referred to any more.
            case removal = 5
        }

        /// What holds after the entry.
        struct Standing: Sendable, Equatable {
            /// Who wrote the entry.
            var writer: Identifier
            /// Of the history; none before the first.
            var history = Identifier.none
            /// Whose log it is.
            var workspace = Identifier.none
            /// The last batch of the history.
            var lastSequence: UInt64 = 0
            /// Of that batch; zeros where the history has none yet.
            var proof = FrameProof.none
            /// Milliseconds since 1970, by the writer's clock.
            var time: UInt64 = 0
            /// The index of the last takeover, which this entry may be.
            var takeover: UInt64 = 0
            /// The index of the history's begin.
            var start: UInt64 = 0
            /// The index of the newest base, of this history or an earlier one; zero where there is none.
            var base: UInt64 = 0

            /// Whether the history can be restored.
            var hasBase: Bool { base > start }
        }

        var kind: Kind
        var index: UInt64
        /// Of the entry before; zeros in the first.
        var previous: [UInt8]
        var standing: Standing
        var payload: [UInt8] = []

        /// Of the whole object.
        private(set) var digest: [UInt8] = []

        /// Above it, no object is one: a batch and what goes with it.
        static let maximumSizeBytes = (1 << 30) + (64 << 20)
        static let noDigest = [UInt8](repeating: 0, count: FieldReader.digestSizeBytes)
        private static let magic: UInt64 = 0x4c4e_524a_5453_4f52  // "ROSTJRNL"
        static let version: UInt32 = 1

        init(
            kind: Kind, index: UInt64, previous: [UInt8], standing: Standing, payload: [UInt8] = []
        ) {
            self.kind = kind
            self.index = index
            self.previous = previous
            self.standing = standing
            self.payload = payload
        }

        /// The object; notes its digest.
        mutating func encoded() -> [UInt8] {
            var writer = FieldWriter()
            writer.append(Self.magic)
            writer.append(Self.version)
            writer.append(kind.rawValue)
            writer.append(index)
            writer.append(raw: previous)
            writer.append(standing.writer)
            writer.append(standing.history)
            writer.append(standing.workspace)
            writer.append(standing.lastSequence)
            writer.append(standing.proof.checksum)
            writer.append(standing.proof.seed)
            for field in [standing.time, standing.takeover, standing.start, standing.base] {
                writer.append(field)
            }
            writer.append(counted: payload)
            let bytes = writer.finish()
            digest = Array(bytes.suffix(FieldReader.digestSizeBytes))
            return bytes
        }

        /// - Throws: `.corrupt`, `.unsupportedVersion`, `.wrongKey` where the bytes are sealed.
        init(_ bytes: [UInt8], index: UInt64) throws {
            let name = ObjectName.entry(index)
            if SealedObject.isSealed(bytes) {
                // Somebody began a sealed copy here at the same time.
                throw RoostError(
                    .wrongKey, "the entry is sealed: give the key that the copy was made with",
                    file: name)
            }
            var reader = try FieldReader(sealed: bytes, name: name)
            guard try reader.word() == Self.magic else {
                throw RoostError(.corrupt, "the object is no entry of a journal", file: name)
            }
            let version = try reader.half()
            guard version == Self.version else {
                throw RoostError(
                    .unsupportedVersion,
                    "the copy is of format \(version); this version reads \(Self.version)",
                    file: name)
            }
            guard let kind = Kind(rawValue: try reader.half()) else { throw reader.senseless() }
            self.kind = kind
            self.index = try reader.word()
            previous = Array(try reader.take(FieldReader.digestSizeBytes))
            standing = Standing(writer: try reader.identifier())
            standing.history = try reader.identifier()
            standing.workspace = try reader.identifier()
            standing.lastSequence = try reader.word()
            standing.proof = FrameProof(checksum: try reader.half(), seed: try reader.half())
            standing.time = try reader.word()
            standing.takeover = try reader.word()
            standing.start = try reader.word()
            standing.base = try reader.word()
            payload = Array(try reader.counted())
            digest = Array(bytes.suffix(FieldReader.digestSizeBytes))
            guard reader.isAtEnd, self.index == index,
                [standing.lastSequence, index].allSatisfy({ $0 < 1 << 62 })
            else { throw reader.senseless() }
        }
    }
#endif
