#if Replica
    import Roost
    import RoostFormat

    /// A state to begin with: which snapshots make it up, and from where the journal goes on.
    struct BaseRecord: Sendable {
        /// One snapshot, in the order of the manifest.
        struct Snapshot: Sendable {
            /// Its number in the workspace.
            var number: UInt64
            var sizeBytes: UInt64
            /// SHA-256 of the file.
            var digest: [UInt8]
            /// The object.
            var name: String
        }

        var history: Identifier
        /// Milliseconds since 1970, when it was begun.
        var time: UInt64
        /// An entry at or before the one with the first batch after the snapshots.
        var firstEntry: UInt64
        /// As the workspace wrote it.
        var manifest: ManifestRecord
        var snapshots: [Snapshot]

        /// The batch after which the journal goes on.
        var flushedSequence: UInt64 { manifest.flushedSequence }
        /// The snapshots may have some of the batches up to this one: before it is reached, they are no
        /// state that ever was.
        var completeSequence: UInt64 { max(manifest.durableSequence, flushedSequence) }

        static let maximumSizeBytes = 256 << 20
        private static let magic: UInt64 = 0x4553_4142_5453_4f52  // "ROSTBASE"

        func encoded() -> [UInt8] {
            var writer = FieldWriter()
            writer.append(Self.magic)
            writer.append(JournalEntry.version)
            writer.append(UInt32(0))
            writer.append(history)
            writer.append(time)
            writer.append(firstEntry)
            let manifest = manifest.encoded()
            withExtendedLifetime(manifest) { writer.append(counted: manifest.bytes) }
            writer.append(UInt64(snapshots.count))
            for snapshot in snapshots {
                writer.append(snapshot.number)
                writer.append(snapshot.sizeBytes)
                writer.append(raw: snapshot.digest)
                writer.append(snapshot.name)
            }
            return writer.finish()
        }

        init(
            history: Identifier, time: UInt64, firstEntry: UInt64, manifest: ManifestRecord,
            snapshots: [Snapshot]
        ) {
            self.history = history
            self.time = time
            self.firstEntry = firstEntry
            self.manifest = manifest
            self.snapshots = snapshots
        }

        /// - Throws: `.corrupt`, `.unsupportedVersion`.
        init(_ bytes: [UInt8], name: String) throws {
            var reader = try FieldReader(sealed: bytes, name: name)
            guard try reader.word() == Self.magic else {
                throw RoostError(.corrupt, "the object is no base", file: name)
            }
            let version = try reader.half()
            guard version == JournalEntry.version, try reader.half() == 0 else {
                throw RoostError(
                    .unsupportedVersion,
                    "the base is of format \(version); this version reads \(JournalEntry.version)",
                    file: name)
            }
            history = try reader.identifier()
            time = try reader.word()
            firstEntry = try reader.word()
            manifest = try Self.manifest(Array(try reader.counted()), name: name)
            snapshots = []
            for _ in 0..<(try reader.count(ofAtLeast: 56)) {
                snapshots.append(
                    Snapshot(
                        number: try reader.word(), sizeBytes: try reader.word(),
                        digest: Array(try reader.take(FieldReader.digestSizeBytes)),
                        name: try reader.text()))
            }
            guard reader.isAtEnd, isConsistent else { throw reader.senseless() }
        }

        /// Whether the snapshots are those of the manifest.
        private var isConsistent: Bool {
            manifest.snapshots.map(\.number) == snapshots.map(\.number)
                && manifest.snapshots.map(\.fileSizeBytes) == snapshots.map(\.sizeBytes)
        }

        private static func manifest(_ bytes: [UInt8], name: String) throws -> ManifestRecord {
            switch bytes.withUnsafeBytes(ManifestRecord.read) {
            case .valid(let record): return record
            case .unsupported(let version):
                throw RoostError(
                    .unsupportedVersion,
                    "the copy is of a workspace of format \(version); this version reads "
                        + "\(Limits.formatVersion)", file: name)
            case .damaged(_, let reason):
                throw RoostError(.corrupt, "\(reason)", file: name)
            }
        }
    }
#endif
