#if Replica
    import Foundation
    import Roost
    import RoostEngine
    import RoostFormat
    import RoostIO

    // How a copier takes its place over, and where it goes on.

    extension Copier {
        /// Opens the place and takes it over, and goes on with its history where the workspace is proven to hold it; else
        /// begins another. To be called once, first.
        func start() async throws {
            // Held while the storage cannot be reached: a flush would let go what is not copied yet.
            let held =
                isAdopted ? nil : try engine.tapOfAll(limitBytes: options.maximumHeldLogBytes)
            if !isAdopted { try await open() }
            let earlier = isAdopted ? journal.state.standing : try await takeOver()
            if let earlier { retentionClock.begin(behind: earlier.time) }
            let standing = journal.state.standing!
            shared.status.withLock { $0.state = .copying }
            tap = try goesOn(from: standing, held)
            // Also of a history that is not gone on with: a restore to a moment finds the bases of all.
            schedule.noteEarlier(markTime: earlier?.time ?? 0, entryTime: standing.time)
            if tap != nil { schedule.goOn(behind: standing.lastSequence) }
            if isAdopted { try await proveOwnLog(of: standing.lastSequence) }
            try await loadBases(from: standing.base)
            let hasNewest = bases.last?.index == standing.base
            if tap == nil {
                try await beginHistory()
            } else if !standing.hasBase {
                let first = standing.start
                try await beginBase(try await engine.pinBase(), firstEntryIn: first..<first)
            } else if bases.isEmpty {
                let base = try await engine.pinBase()
                if let first = try await firstEntry(
                    exactlyBehind: base.manifest.flushedSequence,
                    in: standing.start..<journal.state.next)
                {
                    noteCopied()
                    try await beginBase(base, firstEntryIn: first..<first)
                } else {
                    // Nobody can tell where the log goes on behind a new base.
                    tap = nil
                    try await beginHistory()
                }
            } else if !hasNewest && !isAdopted {
                // The newest is damaged, and another in its place as good. A follower that took over may have brought
                // less to its snapshots, as `tendBases` says: with an older base it goes on until it has.
                let base = try await engine.pinBase()
                noteCopied()
                try await beginBase(
                    base, firstEntryIn: firstEntries(behind: base.manifest.flushedSequence))
            } else {
                noteCopied()
                try await countSinceBase()
            }
        }

        /// Says by which frame of this workspace's log the history is gone on with: the next opening of this one proves it
        /// then, and the log of the writer that was overtaken proves it no more.
        private func proveOwnLog(of sequence: UInt64) async throws {
            let tap = try engine.tapOfAll(limitBytes: options.maximumHeldLogBytes)
            let proof = try tap?.proof(of: sequence) ?? FrameProof.none
            try await addEntryWithoutBatches { $0.proof = proof }
        }

        /// What earlier copiers added after the last base counts as this one's own: where each copies little before
        /// it ends, no other base would ever be made, and nothing removed.
        private func countSinceBase() async throws {
            guard let last = bases.last else { return }
            let entries = try await retrying { [storage] in
                try await storage.listAll(
                    prefix: ObjectName.journal, after: ObjectName.entry(last.index))
            }
            schedule.noteCopiedBefore(logBytes: entries.reduce(0) { $0 + $1.sizeBytes })
        }

        private func open() async throws {
            let copy = try await retrying { [place] in try await place.open(begins: true) }
            opened = copy
            begunJournal = Journal(copy.storage, writer: identifier) { [shared] error in
                shared.note(error)
            }
        }

        /// How the journal stood before.
        private func takeOver() async throws -> JournalEntry.Standing? {
            let end = try await retrying { [storage] in try await JournalReader.end(of: storage) }
            let name = "\(ProcessInfo.processInfo.hostName), process \(getpid())"
            var journal = self.journal
            defer { self.journal = journal }
            try await journal.takeOver(behind: end, name: name, time: WallTime.milliseconds)
            return end?.standing
        }

        /// The log after what the journal holds, where it is proven to be the same history.
        private func goesOn(
            from standing: JournalEntry.Standing, _ held: LogTap?
        ) throws -> LogTap? {
            let workspace = engine.workspaceIdentifier
            guard standing.history != .none, standing.workspace == Identifier(workspace) else {
                return nil
            }
            let (sequence, proof) = (standing.lastSequence, isAdopted ? nil : standing.proof)
            if sequence <= engine.lastSequence,
                let tap = try held?.goingOn(after: sequence, proof: proof)
            {
                return tap
            }
            return try engine.tap(
                after: sequence, proof: proof, limitBytes: options.maximumHeldLogBytes)
        }

        /// Begins anew with the workspace as it is: nothing proves that it goes on where the journal
        /// stands.
        func beginHistory() async throws {
            baseWriting?.task.cancel()
            baseWriting = nil
            pinned = nil
            giveUpRemoval()
            knownSnapshots = [:]
            let (base, tap) = try await engine.pinBaseAndTap(
                limitBytes: options.maximumHeldLogBytes)
            self.tap = tap
            let workspace = Identifier(base.manifest.workspace)
            let entry = try await addEntry(.start, time: time()) { standing in
                standing.history = .random()
                standing.workspace = workspace
                standing.lastSequence = base.manifest.flushedSequence
                standing.proof = FrameProof.none
            }
            entryPlaces = []
            historyBegin = entry.standing.lastSequence
            schedule.goOn(behind: entry.standing.lastSequence)
            shared.status.withLock { $0.historyCount += 1 }
            try await beginBase(base, firstEntryIn: entry.index..<entry.index)
        }
    }
#endif
