#if Replica
    import Crypto
    import Roost
    import RoostEngine
    import RoostIO
    import RoostSnapshot

    /// A base whose objects stand, and of which the journal does not know yet.
    struct WrittenBase: Sendable {
        var name: String
        var digest: [UInt8]
        var record: BaseRecord
    }

    /// Writes a base: the snapshots that no kept base has, and the record that lists them all. On a thread
    /// of its own, as the files that it reads are mapped.
    actor BaseWriter {
        private let copy: OpenedCopy
        private let writer: Identifier
        private let onSent: @Sendable (UInt64) -> Void
        /// Told of each attempt that failed. That another object is taken says nothing of that one.
        private let onTrouble: @Sendable (RoostError) -> Void
        private let thread = WorkerThread(name: "roost-base")

        /// So many snapshots are on their way at a time.
        private static let windowCount = 3
        private static let stepBytes = 1 << 20

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            thread.asUnownedSerialExecutor()
        }

        init(
            _ copy: OpenedCopy, writer: Identifier,
            onSent: @escaping @Sendable (UInt64) -> Void,
            onTrouble: @escaping @Sendable (RoostError) -> Void
        ) {
            self.copy = copy
            self.writer = writer
            self.onSent = onSent
            self.onTrouble = onTrouble
        }

        /// - Parameters:
        ///   - index: Where the journal ends.
        ///   - known: Snapshots of this workspace that kept bases have, by number.
        ///   - stored: What kept bases have, by digest.
        func write(
            _ base: CopyBase, history: Identifier, time: UInt64, index: UInt64,
            firstEntry: UInt64, known: [UInt64: BaseRecord.Snapshot],
            stored: [[UInt8]: BaseRecord.Snapshot]
        ) async throws -> WrittenBase {
            let readers = base.snapshots
            var listed: [BaseRecord.Snapshot?] = readers.map { known[$0.footer.number] }
            try await withThrowingTaskGroup(of: (Int, BaseRecord.Snapshot).self) { group in
                var running = 0
                for (place, reader) in readers.enumerated() where listed[place] == nil {
                    let digest = try await retrying { try self.digest(of: reader) }
                    if var same = stored[digest] {
                        same.number = reader.footer.number
                        listed[place] = same
                        continue
                    }
                    if running == Self.windowCount, let done = try await group.next() {
                        listed[done.0] = done.1
                        running -= 1
                    }
                    running += 1
                    group.addTask { (place, try await self.send(reader, digest, index)) }
                }
                for try await done in group { listed[done.0] = done.1 }
            }
            let record = BaseRecord(
                history: history, time: time, firstEntry: firstEntry, manifest: base.manifest,
                snapshots: listed.compactMap { $0 })
            let bytes = record.encoded()
            let name = ObjectName.base(index, writer)
            try await retrying { try await copy.storage.put(name, ObjectContent(bytes)) }
            onSent(UInt64(bytes.count))
            return WrittenBase(
                name: name, digest: Array(bytes.suffix(FieldReader.digestSizeBytes)),
                record: record)
        }

        private func digest(of reader: SnapshotReader) throws -> [UInt8] {
            var hash = SHA256()
            let sizeBytes = reader.region.sizeBytes
            reader.region.readAhead()
            for begin in stride(from: 0, to: sizeBytes, by: Self.stepBytes) {
                try Task.checkCancellation()
                let end = min(begin + Self.stepBytes, sizeBytes)
                hash.update(data: try reader.region.copy(begin..<end))
            }
            return Array(hash.finalize())
        }

        private func send(
            _ reader: SnapshotReader, _ digest: [UInt8], _ index: UInt64
        ) async throws -> BaseRecord.Snapshot {
            let sizeBytes = UInt64(reader.region.sizeBytes)
            let snapshot = BaseRecord.Snapshot(
                number: reader.footer.number, sizeBytes: sizeBytes, digest: digest,
                name: copy.snapshotName(digest, writer, index))
            let content = ObjectContent(sizeBytes: sizeBytes) { range in
                try await self.read(reader, range)
            }
            try await retrying { try await copy.storage.put(snapshot.name, content) }
            onSent(sizeBytes)
            return snapshot
        }

        private func read(_ reader: SnapshotReader, _ range: Range<UInt64>) throws -> [UInt8] {
            try reader.region.copy(Int(range.lowerBound)..<Int(range.upperBound))
        }

        private func retrying<Result: Sendable>(
            _ body: () async throws -> Result
        ) async throws -> Result {
            var backOff = BackOff()
            while true {
                try Task.checkCancellation()
                do { return try await body() } catch is CancellationError where Task.isCancelled {
                    throw CancellationError()
                } catch let error as RoostError where error.isOfContent {
                    // Of the workspace's own file.
                    throw error
                } catch {
                    onTrouble(asRoostError(error))
                    try await backOff.wait()
                }
            }
        }
    }
#endif
