#if Replica
    import Roost
    import RoostEngine

    /// What one writer knows of the journal, and what it asks the storage next. No I/O.
    ///
    /// - `next` is the index after the last entry that is known. Once the writer has taken over, it and
    ///   the entries from `takeover` on are this writer's alone.
    /// - An entry is made once, and asked for with the same bytes until it is known whether it stands: an
    ///   attempt that seemed to fail may still take effect, and then has written the same.
    /// - An empty object in its place is nobody's entry, and stays: some storages leave one of a put that was broken off. The
    ///   entry goes to the next place, and readers pass the empty one over.
    /// - Where another's entry stands in its place, a writer that takes over goes after it; one that had
    ///   taken over is overtaken, for good.
    struct JournalState: Sendable {
        enum Phase: Sendable, Equatable {
            /// Has taken over nothing yet.
            case outside
            case takingOver
            case owning
            /// By the writer that is named.
            case overtaken(by: Identifier)
        }

        /// What the storage is to be asked.
        enum Request: Sendable, Equatable {
            case putIfAbsent(index: UInt64, bytes: [UInt8])
            /// What stands in the place.
            case get(index: UInt64)
            /// Whether there are entries after the index: objects that are not empty.
            case list(after: UInt64)
        }

        /// What it answered.
        enum Reply: Sendable {
            case written
            case isTaken
            /// Whether it took effect is not known.
            case unknown
            case found([UInt8])
            case missing
            /// The highest index after the one that was asked for.
            case listed(last: UInt64?)
        }

        /// What came of the entry.
        enum Outcome: Sendable {
            case accepted(JournalEntry)
            /// Another's entry stands before it: the writer that takes over learns where the history
            /// stands now.
            case absorbed(JournalEntry)
            case overtaken(by: Identifier)
        }

        let writer: Identifier
        private(set) var phase = Phase.outside
        private(set) var next: UInt64 = 0
        /// The last entry that is known.
        private(set) var last: JournalEntry?
        private var pending: Pending?

        private struct Pending: Sendable {
            var entry: JournalEntry
            var bytes: [UInt8]
            var step = Step.putting

            enum Step: Sendable {
                case putting
                case comparing
                /// A takeover stands: is it at the journal's end?
                case looking
                /// It is not: this is, or was.
                case fetching(end: UInt64)
            }
        }

        init(writer: Identifier) { self.writer = writer }

        /// The history as it stands after the last entry that is known.
        var standing: JournalEntry.Standing? { last?.standing }
        var isBusy: Bool { pending != nil }

        // MARK: What is written

        /// Begins to take over after `end`, the last entry that a list had; `nil` where it had none.
        mutating func beginTakeover(behind end: JournalEntry?, name: String, time: UInt64) {
            precondition(phase == .outside && pending == nil, "a writer takes over once")
            phase = .takingOver
            takeoverName = name
            takeoverTime = time
            absorb(end)
        }

        private var takeoverName = ""
        private var takeoverTime: UInt64 = 0

        private mutating func absorb(_ entry: JournalEntry?) {
            last = entry
            next = entry.map { $0.index + 1 } ?? 0
            var standing = entry?.standing ?? JournalEntry.Standing(writer: writer)
            standing.writer = writer
            standing.time = CopySchedule.ascended(takeoverTime, behind: standing.time)
            let payload = TakeoverPayload(
                earlier: entry?.standing.takeover, name: takeoverName)
            make(.takeover, standing, payload.encoded())
        }

        /// Begins to add an entry, after which the history stands as `change` makes it.
        mutating func beginAdding(
            _ kind: JournalEntry.Kind, payload: [UInt8] = [], time: UInt64,
            _ change: (inout JournalEntry.Standing) -> Void = { _ in }
        ) {
            precondition(phase == .owning && pending == nil, "the writer may add nothing now")
            var standing = last!.standing
            standing.writer = writer
            standing.time = time
            change(&standing)
            make(kind, standing, payload)
        }

        private mutating func make(
            _ kind: JournalEntry.Kind, _ standing: JournalEntry.Standing, _ payload: [UInt8]
        ) {
            var standing = standing
            switch kind {
            case .takeover: standing.takeover = next
            case .start: standing.start = next
            case .base: standing.base = next
            case .frames, .removal: break
            }
            var entry = JournalEntry(
                kind: kind, index: next, previous: last?.digest ?? JournalEntry.noDigest,
                standing: standing, payload: payload)
            let bytes = entry.encoded()
            pending = Pending(entry: entry, bytes: bytes)
        }

        // MARK: What is asked and answered

        /// What to ask next; `nil` where nothing is under way.
        var request: Request? {
            guard let pending else { return nil }
            return switch pending.step {
            case .putting: .putIfAbsent(index: pending.entry.index, bytes: pending.bytes)
            case .comparing: .get(index: pending.entry.index)
            case .looking: .list(after: pending.entry.index)
            case .fetching(let end): .get(index: end)
            }
        }

        /// Takes the answer to `request`; `nil` where there is more to ask.
        ///
        /// - Throws: `.corrupt` where what stands in the entry's place is no entry.
        mutating func receive(_ reply: Reply) throws -> Outcome? {
            guard var pending else { preconditionFailure("nothing was asked") }
            switch (pending.step, reply) {
            case (_, .unknown): return nil
            case (.putting, .written): return accept(&pending)
            case (.putting, .isTaken), (.putting, .missing):
                pending.step = .comparing
            case (.comparing, .found(let bytes)) where bytes.isEmpty:
                next += 1
                make(pending.entry.kind, pending.entry.standing, pending.entry.payload)
                return nil
            case (.comparing, .found(let bytes)):
                if bytes == pending.bytes { return accept(&pending) }
                return meet(try JournalEntry(bytes, index: pending.entry.index))
            case (.comparing, .missing):
                // Removed between the two, which nobody does to what is at the end: asked again.
                pending.step = .putting
            case (.looking, .listed(nil)): return finish(pending)
            case (.looking, .listed(let end?)):
                // The list that the writer went by was old, and its entry stands where the journal once
                // ended. It goes after what is there now.
                pending.step = .fetching(end: end)
            case (.fetching(let end), .found(let bytes)):
                return meet(try JournalEntry(bytes, index: end))
            case (.fetching, .missing): pending.step = .looking
            default: preconditionFailure("an answer to another question")
            }
            self.pending = pending
            return nil
        }

        private mutating func accept(_ pending: inout Pending) -> Outcome? {
            guard pending.entry.kind == .takeover else { return finish(pending) }
            pending.step = .looking
            self.pending = pending
            return nil
        }

        private mutating func finish(_ pending: Pending) -> Outcome {
            last = pending.entry
            next = pending.entry.index + 1
            phase = .owning
            self.pending = nil
            return .accepted(pending.entry)
        }

        /// Another's entry stands in the place.
        private mutating func meet(_ entry: JournalEntry) -> Outcome {
            guard phase == .takingOver else {
                phase = .overtaken(by: entry.standing.writer)
                pending = nil
                return .overtaken(by: entry.standing.writer)
            }
            absorb(entry)
            return .absorbed(entry)
        }
    }
#endif
