#if Replica
    import Foundation
    import Roost
    import RoostEngine
    import RoostFormat
    import RoostIO
    import Synchronization

    /// Reads a journal as it grows and applies it, on a thread of its own.
    ///
    /// - `reader` stands after the last entry that was applied whole.
    actor Following {
        nonisolated let place: CopyPlace
        nonisolated let copy: OpenedCopy
        private let engine: Engine
        private let path: String
        private let interval: Duration
        private let shared: FollowingShared
        private let thread = WorkerThread(name: "roost-follow")
        private var reader: JournalReader
        private var applier: HistoryApplier
        /// The last that was applied.
        private var last: JournalEntry
        /// Why a promotion does not come about yet.
        private var trouble: RoostError?
        /// The same, of what is put.
        private let takeoverTrouble = Mutex<RoostError?>(nil)

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            thread.asUnownedSerialExecutor()
        }

        private init(
            place: CopyPlace, copy: OpenedCopy, engine: Engine, path: String, interval: Duration,
            shared: FollowingShared, history: Identifier, behind last: JournalEntry
        ) {
            self.place = place
            self.copy = copy
            self.engine = engine
            self.path = path
            self.interval = interval
            self.shared = shared
            self.last = last
            reader = JournalReader(copy.storage, behind: last)
            applier = HistoryApplier(engine, history: history)
        }

        // MARK: The begin

        static func begin(
            _ copyPlace: CopyPlace, path: String, configuration: Workspace.Configuration,
            interval: Duration, shared: FollowingShared
        ) async throws -> (Following, Workspace) {
            // A promotion looks for the directory by it, and a process may change where its paths begin until then.
            let path = URL(fileURLWithPath: path).standardizedFileURL.path
            guard configuration.access == .readWrite else {
                throw RoostError(
                    .readOnly,
                    "what follows a copy writes it to its directory: say .readWrite, with which nobody else writes before a promotion",
                    file: path)
            }
            let copy = try await copyPlace.open(begins: false)
            let storage = copy.storage
            if try followedHistory(at: path) == nil {
                _ = try await Restorer(copy, to: path, encryption: configuration.encryption)
                    .run(at: .newest, isToFollow: true)
            }
            let marked = try followedHistory(at: path)
            let workspace = try await Workspace.open(
                at: path, configuration: configuration,
                fileSystem: configuration.fileSystem
            ) { $0.isMirror = true }
            do {
                // One that is not mounted, or lists nothing, may have it all the same.
                guard let end = try await JournalReader.end(of: storage) else {
                    throw OpenedCopy.noCopy
                }
                guard let marked, marked == "\(end.standing.history)" else {
                    throw RoostError(
                        .conflict,
                        "the copy is of another history than this directory: follow it in a new one",
                        file: path)
                }
                let place = try await place(
                    of: workspace.engine.lastSequence, before: end, in: storage)
                let following = Following(
                    place: copyPlace, copy: copy, engine: workspace.engine, path: path,
                    interval: interval, shared: shared, history: end.standing.history, behind: place
                )
                await following.note(place)
                return (following, workspace)
            } catch {
                // The first failure is the one to tell.
                do { try await workspace.close() } catch {}
                throw error
            }
        }

        /// The history that the directory follows; `nil` where there is no directory.
        private static func followedHistory(at path: String) throws -> String? {
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
                return nil
            }
            guard isDirectory.boolValue else {
                throw RoostError(
                    .io, "there is something here already: follow in a new directory", file: path)
            }
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            let name = followedMarkName
            guard try directory.entries().contains(where: { $0.name == name }) else {
                throw RoostError(
                    .conflict, "the directory follows no copy: follow one in a new directory",
                    file: path)
            }
            let file = try directory.openFile(name, writable: false)
            let sizeBytes = min(try file.sizeBytes(), 64)
            let bytes = try file.read(count: Int(sizeBytes), at: 0)
            return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }

        /// The last entry whose batches a workspace has all that holds the history up to `sequence`.
        private static func place(
            of sequence: UInt64, before end: JournalEntry, in storage: any ObjectStorage
        ) async throws -> JournalEntry {
            guard end.standing.lastSequence > sequence else {
                guard end.standing.lastSequence == sequence else {
                    throw RoostError(.conflict, "the directory holds more than the copy does")
                }
                return end
            }
            // What retention has removed counts as before it.
            let next = try await JournalReader.firstEntry(
                behind: sequence, from: end.standing.start, before: end.index, in: storage)
            guard let entry = try await JournalReader.entry(before: next, in: storage),
                entry.standing.lastSequence <= sequence,
                entry.standing.history == end.standing.history
            else {
                throw removed
            }
            return entry
        }

        private static var removed: RoostError {
            RoostError(
                .conflict,
                "the copy no longer has what came behind this state: follow it in a new directory")
        }

        // MARK: Following

        /// Until its task is cancelled, or nothing more can be followed. May be called again.
        func run() async {
            var backOff = BackOff()
            var patience = DamagePatience()
            while !Task.isCancelled {
                do {
                    try await catchUp()
                    shared.status.withLock { $0.trouble = nil }
                    backOff = BackOff()
                    patience = DamagePatience()
                    try await Task.sleep(for: interval.asSleep)
                } catch {
                    if Task.isCancelled { return }
                    // What a storage throws of its own is about the storage.
                    let error = asRoostError(error)
                    guard mayPass(error, &patience, &backOff) else {
                        return shared.status.withLock { $0.failure = error }
                    }
                    shared.status.withLock { $0.trouble = error }
                    do { try await backOff.wait() } catch { return }
                }
            }
        }

        /// How long an entry that reads as damaged is read again: what stands between may damage more than three answers in a
        /// row.
        private struct DamagePatience {
            private static let limit = Duration.seconds(10)
            private var damage: (behind: UInt64, begin: ContinuousClock.Instant)?

            /// Notes damage behind the entry at `index`; `true` where it is the first.
            mutating func isNew(behind index: UInt64) -> Bool {
                if damage?.behind == index { return false }
                damage = (index, .now)
                return true
            }

            var isOver: Bool {
                damage.map { ContinuousClock.now - $0.begin >= Self.limit } ?? false
            }
        }

        /// Whether it is about a storage or a disk that is asked again: an entry that was applied in part is applied
        /// again from its begin, and what the workspace has is passed over.
        private func mayPass(
            _ error: RoostError, _ patience: inout DamagePatience, _ backOff: inout BackOff
        ) -> Bool {
            guard error.code == .corrupt else {
                return error.code == .io || error.code == .outOfSpace
            }
            // An outage before it may have made the pauses longer than there is patience.
            if patience.isNew(behind: last.index) { backOff = BackOff() }
            return !patience.isOver
        }

        private func catchUp() async throws {
            while true {
                var reader = self.reader
                guard let entry = try await next(of: &reader) else { return }
                try await apply(entry)
                self.reader = reader
            }
        }

        private func next(of reader: inout JournalReader) async throws -> JournalEntry? {
            shared.askedAt.withLock { $0 = .now }
            defer { shared.askedAt.withLock { $0 = nil } }
            do { return try await reader.read() } catch {
                throw reader.isOvertaken ? Self.removed : error
            }
        }

        private func apply(_ entry: JournalEntry) async throws {
            var applier = self.applier
            let step = try await applier.apply(entry)
            self.applier = applier
            guard step == .goesOn else {
                throw RoostError(
                    .conflict,
                    "the copy goes on with another history: follow it in a new directory",
                    file: ObjectName.entry(entry.index))
            }
            last = entry
            note(entry)
        }

        private func note(_ entry: JournalEntry) {
            let moment = Date(milliseconds: entry.standing.time)
            let sequence = engine.lastSequence
            shared.status.withLock { status in
                status.lastSequence = sequence
                status.moment = moment
            }
        }

        // MARK: Promotion

        /// Takes over after all that was copied, which the workspace then has.
        func takeOver(within limit: Duration) async throws -> Journal {
            trouble = nil
            takeoverTrouble.withLock { $0 = nil }
            return try await withThrowingTaskGroup(of: Journal?.self) { group in
                group.addTask { try await self.takeOver() }
                group.addTask {
                    try await Task.sleep(for: limit.asSleep)
                    return nil
                }
                defer { group.cancelAll() }
                guard let journal = try await group.next() ?? nil else {
                    if let trouble, trouble.code == .outOfSpace { throw trouble }
                    throw RoostError(
                        .io, "the storage did not let the place be taken over in time",
                        cause: takeoverTrouble.withLock { $0 } ?? trouble)
                }
                return journal
            }
        }

        private func takeOver() async throws -> Journal {
            // Who lacks entries that are gone learns so before anything is put.
            try await catchUpAtLast()
            var journal = Journal(copy.storage, writer: .random()) { [weak self] error in
                self?.takeoverTrouble.withLock { $0 = error }
            }
            let name = "\(ProcessInfo.processInfo.hostName), promoted at \(path)"
            try await journal.takeOver(
                behind: last, name: name, time: WallTime.milliseconds
            ) { entry in
                // It may stand further on, where others came between, or entries were removed. The takeover is put
                // behind it once all before it are applied: who lacks batches must not overtake who has them.
                try await catchUp(to: entry)
            }
            return journal
        }

        /// Some storages list an entry only some time after they took it.
        private func catchUp(to entry: JournalEntry) async throws {
            let begin = ContinuousClock.now
            var backOff = BackOff()
            while true {
                try await catchUpAtLast()
                if last.index >= entry.index { return }
                guard ContinuousClock.now - begin < Journal.listingPatience else {
                    throw Self.removed
                }
                try await backOff.wait()
            }
        }

        /// As `catchUp`, again and again while the storage cannot be had. All of it is on disk then: who was told that
        /// it is copied counts on it, and the next opening writes to the directory, and does not follow on.
        private func catchUpAtLast() async throws {
            var backOff = BackOff()
            var patience = DamagePatience()
            while true {
                do {
                    try await catchUp()
                    break
                } catch is CancellationError where Task.isCancelled {
                    throw CancellationError()
                } catch {
                    let error = asRoostError(error)
                    guard mayPass(error, &patience, &backOff) else { throw error }
                    trouble = error
                    try await backOff.wait()
                }
            }
            trouble = nil
            _ = try await engine.syncLog()
        }

        /// The directory follows what it did.
        func putMark() throws {
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            if try directory.entries().contains(where: { $0.name == followedMarkName }) { return }
            try Restorer.mark(directory, applier.history)
        }

        /// The directory follows nothing any more.
        func forgetMark() throws {
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            guard try directory.entries().contains(where: { $0.name == followedMarkName }) else {
                return
            }
            try directory.remove(followedMarkName)
            try directory.sync()
        }
    }
#endif
