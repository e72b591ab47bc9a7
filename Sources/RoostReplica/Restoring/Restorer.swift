#if Replica
    import Crypto
    import Foundation
    import Roost
    import RoostEngine
    import RoostFormat
    import RoostIO
    import RoostSealing
    import RoostSnapshot

    /// Makes a workspace of a copy, in a directory beside its place until it is complete and checked. On a
    /// thread of its own, as it writes files.
    actor Restorer {
        private let storage: any ObjectStorage
        /// Of the restored workspace.
        private let encryption: WorkspaceEncryption?
        private let parent: any Directory
        private let name: String
        private let thread = WorkerThread(name: "roost-restore")

        private static let windowCount = 4

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            thread.asUnownedSerialExecutor()
        }

        /// - Throws: `.io` where there is something at `path`.
        init(_ copy: OpenedCopy, to path: String, encryption: WorkspaceEncryption?) throws {
            storage = copy.storage
            self.encryption = encryption
            let place = URL(fileURLWithPath: path).standardizedFileURL
            let name = place.lastPathComponent
            self.name = name
            parent = try PosixFileSystem().openOrMakeDirectory(
                at: place.deletingLastPathComponent().path)
            // Before the storage is asked.
            guard try !parent.entries().contains(where: { $0.name == name }) else {
                throw RoostError(
                    .io, "there is something here already: restore to a new path", file: place.path)
            }
        }

        /// - Parameter isToFollow: Whether the directory is to go on with the history it is restored from.
        func run(at point: RestorePoint, isToFollow: Bool) async throws -> RestoreReport {
            let (found, damage) = try await JournalReader.readableEnd(of: storage)
            guard let end = found else { throw damage ?? OpenedCopy.noCopy }
            if case .newest = point, let damage {
                throw RoostError(
                    .corrupt,
                    "the last entry of the copy's journal is damaged: \(damage.message). Restore what is before it, by its sequence number: \(end.standing.lastSequence)",
                    file: damage.file, offset: damage.offset)
            }
            let chain = try await BaseChain(from: end.standing.base, in: storage)
            guard !chain.links.isEmpty else {
                throw chain.damagedEnd
                    ?? RoostError(.io, "the copy has no base yet: it was begun and never completed")
            }
            let incomplete = try IncompleteDirectory(of: name, in: parent, by: "restore") { entry in
                FileName(entry.name) != nil
                    || [followedMarkName, KeyRing.fileName, KeyRing.newFileName].contains(
                        entry.name)
            }
            var passed = PassedBases(damages: chain.damages)
            for link in chain.links {
                let history = link.entry.standing.history
                guard passed.mayGoOn(with: history) else { break }
                let isNewest = history == end.standing.history
                // What is copied later is of the newest history, and of no other.
                if isToFollow && !isNewest { break }
                let record: BaseRecord
                switch link.record {
                case .failure(let damage):
                    let start = try await start(before: link.entry)
                    if point.mayBeIn(historyBegunBy: start) { passed.note(damage, of: history) }
                    continue
                case .success(let read): record = read
                }
                guard point.mayBegin(with: record) else { continue }
                try incomplete.clear()
                let place = Place(path: incomplete.path, fileSystem: fileSystem())
                do { try await fetch(record, to: place) } catch let damage as DamagedBase {
                    passed.note(damage.error, of: history)
                    passed.damages.append(damage.error)
                    continue
                }
                guard var report = try await replay(record, before: end, to: point, in: place)
                else { continue }
                report.passedDamages = passed.damages
                // What was copied since, of a history that has no base yet, cannot be restored.
                if case .newest = point, !isNewest { report.isBeyondCopy = true }
                if isToFollow { try markIncomplete(at: place.path, record.history) }
                try incomplete.finish()
                return report
            }
            incomplete.abandon()
            // A base that could have led there is damaged.
            if let needed = passed.needed { throw needed }
            if isToFollow {
                throw RoostError(
                    .io, "the copy has begun another history and has no base of it yet: ask again")
            }
            throw missing(point, in: chain, before: end, damage)
        }

        /// Why nothing leads to `point`, though no base is damaged that could.
        private func missing(
            _ point: RestorePoint, in chain: BaseChain, before end: JournalEntry,
            _ damage: RoostError?
        ) -> RoostError {
            guard let oldest = chain.bases.last else {
                return chain.damages.first ?? OpenedCopy.noCopy
            }
            if let damage = chain.damagedEnd, !point.mayBegin(with: oldest.record) { return damage }
            // What is wanted may be in the entry that cannot be read.
            if let damage, point.mayBegin(with: oldest.record) { return damage }
            let first = Date(milliseconds: oldest.record.time)
            return RoostError(
                .io,
                "the copy does not hold this state: it goes back to \(first.ISO8601Format()), batch "
                    + "\(oldest.record.completeSequence), and up to batch "
                    + "\(end.standing.lastSequence)")
        }

        /// The bases that were not begun with, as they are damaged.
        private struct PassedBases {
            var damages: [RoostError]
            /// Of the newest that could have led to what is wanted, and its history.
            private(set) var needed: RoostError?
            private var history: Identifier?

            init(damages: [RoostError]) { self.damages = damages }

            mutating func note(_ damage: RoostError, of history: Identifier) {
                if needed == nil { (needed, self.history) = (damage, history) }
            }

            /// An older base of the same history leads to the same state; one of another leads to another.
            func mayGoOn(with history: Identifier) -> Bool {
                self.history.map { $0 == history } ?? true
            }
        }

        /// Why a base cannot be begun with, whatever the journal holds.
        private struct DamagedBase: Error {
            let error: RoostError
        }

        /// What began the history of `entry`; `nil` where that is gone or damaged.
        private func start(before entry: JournalEntry) async throws -> JournalEntry? {
            do { return try await JournalReader.entry(entry.standing.start, in: storage) } catch let
                error as RoostError where error.code == .corrupt
            { return nil }
        }

        /// Where one attempt writes.
        private struct Place {
            let path: String
            let fileSystem: any FileSystem
        }

        private func markIncomplete(at path: String, _ history: Identifier) throws {
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            try Self.mark(directory, history)
        }

        /// What the restored files go through: a new one for each attempt, which makes its own keys.
        private func fileSystem() -> any FileSystem {
            Workspace.Configuration(encryption: encryption).fileSystem
        }

        // MARK: The base

        private func fetch(_ record: BaseRecord, to place: Place) async throws {
            let directory = try place.fileSystem.openDirectory(at: place.path, create: false)
            // Who writes the files of a new encrypted workspace makes its keys, under this lock.
            try directory.lock(exclusive: true)
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (count, snapshot) in record.snapshots.enumerated() {
                        if count >= Self.windowCount { try await group.next() }
                        group.addTask { try await self.fetch(snapshot, into: directory) }
                    }
                    try await group.waitForAll()
                }
            } catch {
                // An older base may be tried next; the first failure is the one to tell.
                do { try directory.unlock() } catch {}
                throw error
            }
            var manifest = record.manifest
            // The log that is replayed after it is not there yet: nothing of it counts as lost.
            manifest.durableSequence = manifest.flushedSequence
            try directory.sync()
            try ManifestFile.replace(with: manifest, in: directory)
            try directory.unlock()
        }

        private func fetch(
            _ snapshot: BaseRecord.Snapshot, into directory: any Directory
        ) async throws {
            let name = FileName.snapshot(snapshot.number).text
            do {
                try await rereading {
                    let file = try directory.createFile(name)
                    do {
                        try await fetch(snapshot, into: file)
                        try file.syncData()
                    } catch {
                        // What is read again goes into a new file, as a sealed one is written from its begin once. The
                        // first failure is the one to tell.
                        do { try directory.remove(name) } catch {}
                        throw error
                    }
                }
            } catch let error as RoostError where error.code == .corrupt {
                throw DamagedBase(error: error)
            }
        }

        /// - Throws: `.corrupt` where the object is damaged; `DamagedBase` where it is gone.
        private func fetch(_ snapshot: BaseRecord.Snapshot, into file: any File) async throws {
            var hash = SHA256()
            var offset: UInt64 = 0
            let isThere = try await storage.download(snapshot.name) { piece in
                guard offset + UInt64(piece.count) <= snapshot.sizeBytes else {
                    throw RoostError(
                        .corrupt, "the object is longer than the base says", file: snapshot.name)
                }
                try piece.withUnsafeBytes { try file.write($0, at: offset) }
                hash.update(data: piece)
                offset += UInt64(piece.count)
            }
            guard isThere else {
                throw DamagedBase(
                    error: RoostError(
                        .io,
                        "the copy no longer has this snapshot: it was removed by retention, or is lost",
                        file: snapshot.name))
            }
            guard offset == snapshot.sizeBytes, hash.finalize().elementsEqual(snapshot.digest)
            else {
                throw RoostError(
                    .corrupt, "the object is not what was stored: its checksum does not hold",
                    file: snapshot.name, offset: offset)
            }
        }

        // MARK: The journal

        /// `nil` where what the journal has does not lead from the base to `point`.
        private func replay(
            _ record: BaseRecord, before end: JournalEntry, to point: RestorePoint, in place: Place
        ) async throws -> RestoreReport? {
            var configuration = EngineConfiguration()
            configuration.isMirror = true
            let engine = try await Engine.open(
                at: place.path, fileSystem: place.fileSystem, configuration: configuration)
            (place.fileSystem as? SealedFileSystem)?.whenTooMuchIsOpen { [weak engine] done in
                engine.map { $0.releaseColdMemory(done) } ?? done()
            }
            var applier = HistoryApplier(engine, history: record.history, point: point)
            do {
                var reader = LogBehindBase(storage, record, before: end)
                while let entry = try await reader.read() {
                    if try await applier.apply(entry) == .ended { break }
                }
                let isReached = isReached(point, engine.lastSequence, record)
                let report = isReached ? try await engine.verify() : nil
                try await engine.close()
                guard let report else { return nil }
                if let damage = report.damages.first { throw damage }
                var restored = RestoreReport(
                    lastSequence: engine.lastSequence,
                    moment: applier.time.map { Date(milliseconds: $0) },
                    batchCount: applier.batchCount, snapshotCount: record.snapshots.count,
                    snapshotSizeBytes: record.snapshots.reduce(0) { $0 + $1.sizeBytes },
                    verification: report)
                restored.isBeyondCopy = applier.isBeyondCopy
                return restored
            } catch {
                // The first failure is the one to tell.
                do { try await engine.close() } catch {}
                throw error
            }
        }

        private func isReached(
            _ point: RestorePoint, _ sequence: UInt64, _ record: BaseRecord
        ) -> Bool {
            guard sequence >= record.completeSequence else { return false }
            if case .sequence(let wanted) = point { return sequence == wanted }
            return true
        }

        /// Says of the directory that it follows `history`.
        static func mark(_ directory: any Directory, _ history: Identifier) throws {
            let file = try directory.createFile(followedMarkName)
            try Array("\(history)\n".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            try file.syncData()
            try directory.sync()
        }
    }

    extension Replica {
        /// Makes a workspace at `path` of a copy, as it was at `point`.
        ///
        /// What is read is checked: each object by its SHA-256, each batch by its checksum, and then the whole
        /// workspace as by `verify`. Until that is done it is called `path` with `.incomplete` after
        /// it. What was copied is not changed, and may go on being copied to.
        ///
        /// - Parameters:
        ///   - storage: what was copied to.
        ///   - encryption: the key that the copy was sealed with, if it was.
        ///   - path: the new workspace's path.
        ///   - files: how the new workspace's files are written: under the copy's key where nothing else is said.
        ///   - point: which state.
        /// - Throws: `.io` where there is something at `path`, the storage cannot be had, or the copy does
        ///   not hold that state, as of a moment whose log was lost to it; `.wrongKey` where the key is not the
        ///   copy's, there is none for a sealed copy, or one for a plain one; `.corrupt` where an object is damaged;
        ///   `.outOfSpace`.
        @discardableResult
        public static func restore(
            from storage: any ObjectStorage, encryption: WorkspaceEncryption? = nil,
            to path: String, files: RestoredFiles = .asCopy, at point: RestorePoint = .newest
        ) async throws -> RestoreReport {
            let copy = try await CopyPlace(storage, encryption).open(begins: false)
            let key: WorkspaceEncryption? =
                switch files {
                case .asCopy: encryption
                case .plain: nil
                case .encrypted(let key): key
                }
            return try await Restorer(copy, to: path, encryption: key)
                .run(at: point, isToFollow: false)
        }
    }
#endif
