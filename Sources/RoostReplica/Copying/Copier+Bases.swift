#if Replica
    import Roost
    import RoostEngine
    import RoostSnapshot

    extension Copier {
        /// A base that is being written beside the copying.
        struct BaseWriting {
            let task: Task<Void, Never>
            var outcome: Result<WrittenBase, any Error>?
        }

        /// What is being removed beside the copying, or about to be.
        struct Removing {
            let task: Task<Void, Never>
            /// What was found to be removed, until the journal says so.
            var found: RemovalPayload?
            /// How many of the bases go with it.
            var baseCount = 0
        }

        /// Reads what the copying needs to begin: the newest base whose entries are complete, and those after it. The
        /// older ones are read beside it.
        func loadBases(from index: UInt64) async throws {
            let standing = journal.state.standing!
            let chain = try await retrying { [storage] in
                var chain = BaseChain(from: index)
                try await chain.read(from: storage) { Self.isComplete($0, in: standing) }
                return chain
            }
            noteDamage(in: chain)
            bases = Self.kept(chain.bases, as: standing)
            // Which numbers still name the same files is not known: a copy of the directory may have used
            // them again. The first base goes by what is in the files.
            reusableFrom = index
            olderBases = Task { await loadOlderBases(of: chain, as: standing) }
        }

        private func loadOlderBases(
            of begun: BaseChain, as standing: JournalEntry.Standing
        ) async {
            let chain: BaseChain
            do {
                chain = try await retrying(telling: \.baseTrouble) { [storage] in
                    var chain = begun
                    try await chain.read(from: storage)
                    return chain
                }
            } catch {
                // Without them nothing is removed, as it is not known what they need.
                if !(error is CancellationError) { noteTrouble(error) }
                return
            }
            noteDamage(in: chain)
            hasUnreadBases = !chain.damages.isEmpty
            let older = chain.bases.dropFirst(begun.bases.count)
            bases.insert(contentsOf: Self.kept(older, as: standing), at: 0)
            hasAllBases = true
        }

        /// Ascending; complete are those of the history that the journal had when it was taken over.
        private static func kept(
            _ found: some BidirectionalCollection<BaseChain.Base>,
            as standing: JournalEntry.Standing
        ) -> [Retention.KeptBase] {
            found.reversed().map { base in
                Retention.KeptBase(
                    index: base.entry.index, name: base.name, record: base.record,
                    isComplete: isComplete(base.record, in: standing))
            }
        }

        private static func isComplete(
            _ record: BaseRecord, in standing: JournalEntry.Standing
        ) -> Bool {
            record.history == standing.history && standing.lastSequence >= record.completeSequence
        }

        /// The moments of a damaged base may be restored by an older one; the next base makes a damaged newest unneeded.
        private func noteDamage(in chain: BaseChain) {
            if let damage = chain.damages.first { noteTrouble(damage) }
        }

        private func noteSnapshots(of record: BaseRecord) {
            for snapshot in record.snapshots { knownSnapshots[snapshot.number] = snapshot }
        }

        // MARK: Writing

        /// - Parameter range: Where the entry with the first batch after the base is.
        func beginBase(_ base: CopyBase, firstEntryIn range: Range<UInt64>) async throws {
            let writer = BaseWriter(copy, writer: identifier) { [shared] sizeBytes in
                shared.status.withLock { $0.baseBytesSent += sizeBytes }
            } onTrouble: { [shared] error in
                shared.status.withLock { $0.baseTrouble = error }
            }
            let history = journal.state.standing!.history
            let (time, index) = (time(), journal.state.next)
            let stored = Retention.reusable(in: bases, from: reusableFrom)
            let known = knownSnapshots
            let task = Task {
                let outcome: Result<WrittenBase, any Error>
                do {
                    let first = try await firstEntry(
                        behind: base.manifest.flushedSequence, in: range)
                    outcome = .success(
                        try await writer.write(
                            base, history: history, time: time, index: index,
                            firstEntry: first, known: known, stored: stored))
                } catch { outcome = .failure(error) }
                noteWritten(outcome, of: history)
            }
            baseWriting = BaseWriting(task: task)
            schedule.noteBaseBegun()
            shared.status.withLock { $0.isWritingBase = true }
        }

        /// The entry of `range` with the first batch after `sequence`, as earlier copiers made them; the range's begin
        /// where the entries do not say so.
        private func firstEntry(
            behind sequence: UInt64, in range: Range<UInt64>
        ) async throws -> UInt64 {
            if range.isEmpty { return range.lowerBound }
            return try await firstEntry(exactlyBehind: sequence, in: range) ?? range.lowerBound
        }

        /// `nil` where entries that say so are gone or damaged.
        func firstEntry(
            exactlyBehind sequence: UInt64, in range: Range<UInt64>
        ) async throws -> UInt64? {
            do {
                return try await retrying(telling: \.baseTrouble) { [storage] in
                    let found = try await JournalReader.firstEntry(
                        behind: sequence, from: range.lowerBound, before: range.upperBound,
                        in: storage)
                    guard found > range.lowerBound,
                        let before = try await JournalReader.entry(before: found, in: storage),
                        before.standing.lastSequence <= sequence
                    else { return nil }
                    return found
                }
            } catch let error as RoostError where error.isOfContent {
                // A damaged entry ends no copying: a later base makes it unneeded.
                return nil
            }
        }

        private func noteWritten(_ outcome: Result<WrittenBase, any Error>, of history: Identifier)
        {
            // One of a history that was given up is nobody's.
            guard journal.state.standing?.history == history, !Task.isCancelled else { return }
            baseWriting?.outcome = outcome
            shared.wake()
        }

        /// Adds what was written, begins what is due, removes what is not needed.
        func tendBases(isLast: Bool) async throws {
            if isLast, !journal.state.standing!.hasBase, let writing = baseWriting {
                // Without it nothing of the history could be restored. Who stops waits no longer than he said: the
                // task that writes it hears nothing of that by itself.
                await withTaskCancellationHandler {
                    await writing.task.value
                } onCancel: {
                    writing.task.cancel()
                }
                try Task.checkCancellation()
            }
            if let outcome = baseWriting?.outcome {
                baseWriting = nil
                shared.status.withLock { $0.isWritingBase = false }
                try await add(try outcome.get())
            }
            guard !isLast else { return }
            try await tendRemoval()
            guard baseWriting == nil, removing == nil, schedule.thinksOfBase else { return }
            guard let base = pinned else { return beginPinning() }
            pinned = nil
            // Pinned before the history was begun: the batches between are not in it.
            guard base.manifest.flushedSequence >= historyBegin else { return }
            // It is looked again at the next tick: a flush need not come with more log.
            guard isNewer(base) else { return }
            guard schedule.isBaseDue(newSizeBytes: newSizeBytes(of: base)) else { return }
            try await beginBase(
                base, firstEntryIn: firstEntries(behind: base.manifest.flushedSequence))
        }

        /// Whether a base of these snapshots says more than the last one.
        ///
        /// A follower that took over may have brought less to its snapshots than the writer had, whose entries from
        /// before its last base are known by no place: it waits until it has brought as much.
        private func isNewer(_ base: CopyBase) -> Bool {
            guard let last = bases.last?.record else { return true }
            let sequence = base.manifest.flushedSequence
            // Where nothing was flushed since, it is the same base once more.
            return sequence > last.flushedSequence
                || sequence == last.flushedSequence
                    && last.history != journal.state.standing!.history
        }

        /// About what has to be sent for it. After a takeover, numbers and sizes say what is stored: enough for
        /// when, and not for what.
        private func newSizeBytes(of base: CopyBase) -> UInt64 {
            let newest = bases.last?.record.snapshots ?? []
            let sizes = Dictionary(
                newest.map { ($0.number, $0.sizeBytes) }, uniquingKeysWith: { first, _ in first })
            return base.snapshots.reduce(0) { sum, reader in
                let size = reader.footer.fileSizeBytes
                return sizes[reader.footer.number] == size ? sum : sum + size
            }
        }

        /// Beside the copying, as it waits for whatever the compaction is at.
        private func beginPinning() {
            guard !isPinning else { return }
            isPinning = true
            Task {
                // Where the workspace is closed there is no need for a base any more.
                pinned = try? await engine.pinBase()
                isPinning = false
            }
        }

        private func add(_ written: WrittenBase) async throws {
            let payload = BasePayload(
                name: written.name, digest: written.digest,
                earlier: journal.state.standing!.base)
            let entry = try await addEntry(.base, payload: payload.encoded(), time: time())
            bases.append(
                .init(
                    index: entry.index, name: written.name, record: written.record,
                    isComplete: false))
            knownSnapshots = [:]
            noteSnapshots(of: written.record)
            forgetPlaces(through: written.record.flushedSequence)
            shared.status.withLock { status in
                status.baseCount += 1
                // What is troubled beside this is so again when it is next tried.
                status.baseTrouble = nil
            }
            schedule.noteWritten(now: Self.now)
            noteCopied()
            wantsRemoval = true
        }

        // MARK: Removing

        private func tendRemoval() async throws {
            if let found = removing?.found {
                removing?.found = nil
                try await remove(found)
            } else if wantsRemoval, removing == nil, baseWriting == nil, hasAllBases,
                bases.last?.isComplete == true
            {
                wantsRemoval = false
                beginRemoval()
            }
        }

        /// Looks, beside the copying, what is stored that no kept base needs.
        private func beginRemoval() {
            let keep = options.retention.milliseconds
            let now = retentionClock.now(time: time(), instant: Self.now, waiting: keep)
            let begin = now - min(now, keep)
            let count = Retention.removedCount(of: bases, keepingFrom: begin)
            guard !hasUnreadBases || isOwn(bases[count], begunBefore: begin) else { return }
            let (bases, storage) = (bases, storage)
            removalCount += 1
            let number = removalCount
            let task = Task {
                var found: RemovalPayload?
                do {
                    let snapshots = try await storage.listAll(prefix: ObjectName.snapshots)
                    let stored = try await storage.listAll(prefix: ObjectName.bases)
                    found = Retention.removal(
                        of: bases.prefix(count), keeping: bases.dropFirst(count),
                        storedSnapshots: snapshots.map(\.name), storedBases: stored.map(\.name))
                } catch {
                    // The next base looks again.
                    noteTrouble(error)
                }
                noteFound(found, baseCount: count, of: number)
            }
            removing = Removing(task: task)
        }

        /// Gives up what is not in the journal yet: a base that is begun now may refer to what it would remove.
        func giveUpRemoval() {
            removing?.task.cancel()
            removing = nil
            removalCount += 1
        }

        /// Whether a base leads to all that is kept, and is one of this writer: then nothing older is needed, and what of that
        /// could not be read neither.
        private func isOwn(_ base: Retention.KeptBase, begunBefore time: UInt64) -> Bool {
            base.isComplete && base.record.time <= time
                && base.index > journal.state.standing!.takeover
        }

        private func noteFound(_ found: RemovalPayload?, baseCount: Int, of number: Int) {
            guard number == removalCount else { return }
            guard found != nil else { return removing = nil }
            removing?.found = found
            removing?.baseCount = baseCount
        }

        private func noteTrouble(_ error: any Error) {
            shared.status.withLock { $0.baseTrouble = asRoostError(error) }
        }

        /// Says in the journal what goes, and then removes it, beside the copying: nothing that the newest base
        /// refers to, and whoever takes over later refers to that alone, however late a removal comes.
        private func remove(_ found: RemovalPayload) async throws {
            let count = removing?.baseCount ?? 0
            try await addEntry(.removal, payload: found.encoded(), time: time())
            bases.removeFirst(count)
            let takeover = journal.state.standing!.takeover
            let removal = Removal(storage: storage, payload: found, newestTakeover: takeover)
            removalCount += 1
            let number = removalCount
            let task = Task {
                do {
                    try await removal.run()
                    shared.status.withLock { $0.baseTrouble = nil }
                } catch {
                    noteTrouble(error)
                }
                if number == removalCount { removing = nil }
            }
            removing = Removing(task: task)
        }
    }

    /// Removes what the journal says that goes.
    struct Removal: Sendable {
        let storage: any ObjectStorage
        let payload: RemovalPayload
        let newestTakeover: UInt64

        private static let windowCount = 8

        func run() async throws {
            try await delete(payload.names)
            let (takeovers, begin) = try await takeovers()
            let entries = try await storage.listAll(
                prefix: ObjectName.journal, after: begin == 0 ? nil : ObjectName.entry(begin))
            try await delete(
                entries.filter { object in
                    // An empty one stays too: a writer whose put has left it, and that was overtaken behind it, asks for
                    // this place again.
                    guard !object.isEmpty, let index = ObjectName.index(ofEntry: object.name) else {
                        return false
                    }
                    return index < payload.entriesBefore && !takeovers.contains(index)
                }.map(\.name))
        }

        /// All takeovers that can be found, and the oldest of them: what stands before that one stays,
        /// unless it is the first of all.
        private func takeovers() async throws -> (Set<UInt64>, oldest: UInt64) {
            var found: Set<UInt64> = []
            var index = newestTakeover
            while let entry = try await JournalReader.entry(index, in: storage),
                entry.kind == .takeover
            {
                found.insert(index)
                guard let earlier = try TakeoverPayload(entry).earlier, earlier < index else {
                    return (found, 0)
                }
                index = earlier
            }
            return (found, found.min() ?? payload.entriesBefore)
        }

        private func delete(_ names: [String]) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (count, name) in names.enumerated() {
                    if count >= Self.windowCount { try await group.next() }
                    group.addTask { try await storage.delete(name) }
                }
                try await group.waitForAll()
            }
        }
    }
#endif
