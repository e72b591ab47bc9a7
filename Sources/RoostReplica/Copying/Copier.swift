#if Replica
    import Foundation
    import Roost
    import RoostEngine
    import RoostFormat
    import RoostIO

    /// Carries out what `CopySchedule` decides, on a thread of its own: reading the log may wait for the
    /// disk, and hashing takes the processor.
    ///
    /// - One task runs it, from takeover to end. A base is written beside it, by another task, which
    ///   reports to this one; the journal is this one's alone.
    /// - `tap` stands where the journal does: after the last batch that is in it.
    /// - What fails at the storage is tried again. What ends the copier is an overtaking, a poisoned or
    ///   closed workspace, damage, and `stop`.
    actor Copier {
        nonisolated let engine: Engine
        let place: CopyPlace
        /// Where all goes: known once `place` was opened, before anything else is done.
        var opened: OpenedCopy?
        let options: ReplicaOptions
        let shared: CopyShared
        private let thread = WorkerThread(name: "roost-copy")
        let identifier: Identifier

        var begunJournal: Journal?
        /// Somebody else's history is gone on with, which this workspace holds, in other files.
        let isAdopted: Bool
        var tap: LogTap?
        var schedule: CopySchedule
        private let commits = ObservedCommits()
        /// The bases whose entries stand and that are not removed, ascending.
        var bases: [Retention.KeptBase] = []
        /// Reads the bases that are older than the copying begins with, which removal alone needs.
        var olderBases: Task<Void, Never>?
        /// All bases that are kept are in `bases`: only then is it known what nobody needs.
        var hasAllBases = false
        /// Whether one of the earlier ones could not be read, or what names it.
        var hasUnreadBases = false
        var baseWriting: BaseWriting?
        /// What the next base would be made of, and whether it is being asked for.
        var pinned: CopyBase?
        var isPinning = false
        /// The batch after which this copier began the history; zero where it went on with one.
        var historyBegin: UInt64 = 0
        var removing: Removing?
        /// Counts the removals that were begun or given up, so that a late answer is known for one.
        var removalCount = 0
        /// The entry of the newest base when this writer took over: what it and later ones refer to can be
        /// referred to again.
        var reusableFrom: UInt64 = 0
        /// A base was added since it was last looked what is not needed any more.
        var wantsRemoval = false
        var retentionClock = RetentionClock(time: WallTime.milliseconds, instant: Copier.now)
        /// The snapshots of the last base that this copier wrote: in one opening no number is used again.
        var knownSnapshots: [UInt64: BaseRecord.Snapshot] = [:]
        /// Where the entries with batches after a number of them begin, of those of this copier.
        var entryPlaces: [(lastSequence: UInt64, index: UInt64)] = []

        /// An entry has about so many bytes of log at the most, unless one batch has more.
        private static let pieceSizeBytes = 8 << 20

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            thread.asUnownedSerialExecutor()
        }

        init(
            engine: Engine, place: CopyPlace, options: ReplicaOptions, shared: CopyShared,
            takeover: (copy: OpenedCopy, journal: Journal)?
        ) {
            self.engine = engine
            self.place = place
            self.options = options
            self.shared = shared
            isAdopted = takeover != nil
            opened = takeover?.copy
            begunJournal = takeover?.journal
            // While the place was taken over its follower was told.
            begunJournal?.onTrouble = { [shared] error in shared.note(error) }
            identifier = takeover?.journal.state.writer ?? .random()
            schedule = CopySchedule(options, now: Self.now)
        }

        var copy: OpenedCopy {
            guard let opened else { preconditionFailure("the copy's place is opened first") }
            return opened
        }
        var storage: any ObjectStorage { copy.storage }
        var journal: Journal {
            get {
                guard let begunJournal else {
                    preconditionFailure("the copy's place is opened first")
                }
                return begunJournal
            }
            set { begunJournal = newValue }
        }

        func run() async {
            // Also while the storage does not answer, or this thread is busy, what was committed when is noted.
            let observing = Task.detached { [commits, engine, tick = schedule.tick] in
                await commits.observe(engine, everyMilliseconds: tick)
            }
            defer { observing.cancel() }
            do {
                try await start()
                try await copyOn()
                shared.end(.success(()))
            } catch is CancellationError {
                shared.end(.failure(shared.abandoned()))
            } catch {
                shared.end(.failure(asRoostError(error)))
            }
            removing?.task.cancel()
            olderBases?.cancel()
            await endBaseWriting()
        }

        /// Cancels the base that is being written, and waits until what was sent of it by half is removed from the
        /// storage; no longer than until this task is cancelled.
        private func endBaseWriting() async {
            guard let task = baseWriting?.task else { return }
            task.cancel()
            let (waiting, end) = AsyncStream.makeStream(of: Never.self)
            Task {
                await task.value
                end.finish()
            }
            for await _ in waiting {}
        }

        private func noteCommitted() {
            commits.look(at: engine)
            for commit in commits.take() {
                schedule.observe(commit.sequence, time: commit.time, now: commit.instant)
            }
        }

        /// Milliseconds, by a clock that never goes back.
        static var now: UInt64 {
            let (seconds, attoseconds) = (ContinuousClock.now - origin).components
            return UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
        }

        private static let origin = ContinuousClock.now

        func time() -> UInt64 { schedule.entryTime(WallTime.milliseconds) }

        // MARK: The loop

        private func copyOn() async throws {
            while true {
                try Task.checkCancellation()
                // Asked before what is then done for it.
                let isLast = shared.isStopping || engine.isClosed
                let isAsked = shared.takeAsk { noteCommitted() } || isLast
                var isAllCopied = true
                switch schedule.action(now: Self.now, isAsked: isAsked) {
                case .copy: isAllCopied = try await copyCommitted()
                case .signOfLife: try await giveSignOfLife()
                case .wait: noteCopied()
                }
                try await tendBases(isLast: isLast)
                if isLast, isAllCopied { return }
                // What is behind the base of a history that was begun is wanted as much.
                if isAsked, !isAllCopied { shared.wake() }
                await shared.sleep(for: .milliseconds(Int64(schedule.tick)))
            }
        }

        /// Copies what is in the log, once it is on disk: what a power cut could take from the log must
        /// not be in the copy.
        ///
        /// `false` where log was lost, and another history was begun: then what is behind its base is still to be
        /// copied.
        private func copyCommitted() async throws -> Bool {
            let instant = ContinuousClock.now
            let boundary = try await engine.syncLog()
            // What was observed before reaches as far as the boundary.
            noteCommitted()
            do {
                while let piece = try tap!.read(
                    through: boundary, maximumSizeBytes: Self.pieceSizeBytes)
                {
                    try await add(piece)
                }
            } catch is LogTapLost {
                shared.status.withLock { $0.lostLogCount += 1 }
                try await beginHistory()
                return false
            }
            shared.status.withLock { status in
                // All that had been committed then.
                if status.copiedSequence >= boundary { status.lastCompleteAt = instant }
            }
            return true
        }

        private func add(_ piece: LogTap.Piece) async throws {
            let marks = schedule.marks(upTo: piece.lastSequence, time: WallTime.milliseconds)
            let payload = FramesPayload(marks: marks, runs: piece.runs).encoded()
            let entry = try await addEntry(.frames, payload: payload, time: time()) { standing in
                standing.lastSequence = piece.lastSequence
                standing.proof = piece.proof
            }
            entryPlaces.append((piece.lastSequence, entry.index))
            tap!.advance(to: piece.lastSequence)
            schedule.noteCopied(
                through: piece.lastSequence, logBytes: UInt64(piece.sizeBytes), now: Self.now)
            shared.status.withLock { $0.logBytesCopied += UInt64(piece.sizeBytes) }
            noteCopied()
        }

        /// Adds to the journal, which nobody but the task of `run` does.
        @discardableResult
        func addEntry(
            _ kind: JournalEntry.Kind, payload: [UInt8] = [], time: UInt64,
            _ change: (inout JournalEntry.Standing) -> Void = { _ in }
        ) async throws -> JournalEntry {
            var journal = self.journal
            defer { self.journal = journal }
            return try await journal.add(kind, payload: payload, time: time, change)
        }

        private func giveSignOfLife() async throws {
            try await addEntryWithoutBatches()
            noteCopied()
        }

        func addEntryWithoutBatches(
            _ change: (inout JournalEntry.Standing) -> Void = { _ in }
        ) async throws {
            let payload = FramesPayload(marks: [], runs: []).encoded()
            try await addEntry(.frames, payload: payload, time: time(), change)
            schedule.noteWritten(now: Self.now)
        }

        /// Tells how far the copy is, if it can be restored.
        func noteCopied() {
            let standing = journal.state.standing!
            noteComplete(through: standing.lastSequence, of: standing.history)
            let isRestorable = bases.contains {
                $0.isComplete && $0.record.history == standing.history
            }
            let copied = isRestorable ? standing.lastSequence : 0
            let last = engine.lastSequence
            shared.status.withLock { status in
                status.copiedSequence = copied
                status.lastSequence = last
                status.journalBytesSent = journal.sizeBytesPut
                if isRestorable, copied == last { status.lastCompleteAt = .now }
            }
            if isRestorable { shared.noteCopied(through: copied) }
        }

        /// Batches up to `sequence` make one moment of the bases that need no more.
        private func noteComplete(through sequence: UInt64, of history: Identifier) {
            for index in bases.indices.reversed() where !bases[index].isComplete {
                bases[index].isComplete =
                    bases[index].record.history == history
                    && bases[index].record.completeSequence <= sequence
            }
        }

        /// Where the entry with the first batch after `sequence` is: its index, with nothing to be searched, where
        /// that is known.
        func firstEntries(behind sequence: UInt64) -> Range<UInt64> {
            let next = journal.state.next
            let found = entryPlaces.partitionIndex { $0.lastSequence <= sequence }
            if found > 0 {
                let index = found < entryPlaces.count ? entryPlaces[found].index : next
                return index..<index
            }
            // It may be in an entry of an earlier copier: the last base of the history began before it, as none is
            // made that holds less than that one in its snapshots.
            return max(journal.state.standing!.start, bases.last?.record.firstEntry ?? 0)..<next
        }

        /// No base will begin before `sequence` any more.
        func forgetPlaces(through sequence: UInt64) {
            entryPlaces.removeAll { $0.lastSequence <= sequence }
        }

        /// - Parameter trouble: where it is told what fails meanwhile.
        func retrying<Result: Sendable>(
            telling trouble: WritableKeyPath<ReplicaStatus, RoostError?> & Sendable = \.trouble,
            _ body: @Sendable () async throws -> Result
        ) async throws -> Result {
            var backOff = BackOff()
            while true {
                do { return try await body() } catch is CancellationError where Task.isCancelled {
                    throw CancellationError()
                } catch let error as RoostError
                    where error.isOfContent || error.isOfConditionalPuts
                {
                    throw error
                } catch {
                    shared.status.withLock { $0[keyPath: trouble] = asRoostError(error) }
                    try await backOff.wait()
                }
            }
        }
    }

    extension CopySchedule {
        init(_ options: ReplicaOptions, now: UInt64) {
            self.init(
                interval: options.interval.milliseconds,
                signOfLifeInterval: options.signOfLifeInterval.milliseconds,
                minimumBytesBetweenBases: UInt64(clamping: options.minimumBytesBetweenBases),
                now: now)
        }
    }

    extension Identifier {
        init(_ workspace: WorkspaceIdentifier) {
            self.init(first: workspace.first, second: workspace.second)
        }
    }
#endif
