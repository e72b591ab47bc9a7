#if Replica
    import Foundation
    import Roost
    import RoostEngine
    import RoostFormat

    /// Hands the batches of one history's entries on to an engine that follows it.
    ///
    /// - Batches come in order and without a gap, each with a checksum that holds; those that the engine
    ///   has already are passed over.
    struct HistoryApplier: Sendable {
        enum Step: Sendable, Equatable {
            case goesOn
            /// What is wanted is reached, or the next entry is of another history.
            case ended
        }

        let engine: Engine
        let history: Identifier
        let point: RestorePoint
        private(set) var batchCount = 0
        /// By when the engine's last batch was committed; `nil` where no batch came.
        private(set) var time: UInt64?
        /// Up to this moment the entries say all that was committed: the last mark, or sign of life.
        private(set) var knownUntil: UInt64 = 0
        /// The last entry of the history.
        private(set) var last: JournalEntry?

        init(_ engine: Engine, history: Identifier, point: RestorePoint = .newest) {
            self.engine = engine
            self.history = history
            self.point = point
        }

        /// - Throws: `.conflict` where the engine takes writes of others: its batches would pass for the entries', as
        ///   they have the same numbers.
        nonisolated(nonsending) mutating func apply(_ entry: JournalEntry) async throws -> Step {
            guard !engine.isWritable else {
                throw RoostError(
                    .conflict, "what is copied cannot be applied to a workspace that is written to",
                    file: ObjectName.entry(entry.index))
            }
            guard entry.standing.history == history else {
                try checkGap(before: entry)
                return .ended
            }
            last = entry
            guard entry.kind == .frames else { return .goesOn }
            let payload = try FramesPayload(entry)
            note(payload, entry)
            let (limit, isReached) = point.limit(in: payload)
            for run in payload.runs { try await apply(run, through: limit, entry) }
            let last = engine.lastSequence
            if let mark = payload.marks.first(where: { $0.sequence >= last }) { time = mark.time }
            if !isReached, limit >= entry.standing.lastSequence,
                last < entry.standing.lastSequence
            {
                throw RoostError(
                    .corrupt, "the entry lacks batches behind batch \(last)",
                    file: ObjectName.entry(entry.index))
            }
            return isReached || last >= limit ? .ended : .goesOn
        }

        private mutating func note(_ payload: FramesPayload, _ entry: JournalEntry) {
            knownUntil = max(knownUntil, payload.lastTime(entry))
        }

        /// Whether the point lies after all that the entries of the history say.
        var isBeyondCopy: Bool { point.milliseconds.map { $0 > knownUntil } ?? false }

        /// Throws where the history ended because log was lost to the copy, and the point is a moment of that
        /// time: the same writer then begins another, after batches that no entry has.
        private func checkGap(before start: JournalEntry) throws {
            guard start.kind == .start, let last, last.kind != .takeover,
                start.standing.writer == last.standing.writer,
                start.standing.workspace == last.standing.workspace,
                start.standing.lastSequence > last.standing.lastSequence, isBeyondCopy
            else { return }
            func text(_ time: UInt64) -> String {
                Date(milliseconds: time)
                    .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            }
            throw RoostError(
                .io,
                "the copy does not hold this moment: the log behind batch "
                    + "\(last.standing.lastSequence) was lost to it, and no moment after "
                    + "\(text(knownUntil)) and before \(text(start.standing.time)) can be restored",
                file: ObjectName.entry(start.index))
        }

        private nonisolated(nonsending) mutating func apply(
            _ run: LogTap.Run, through limit: UInt64, _ entry: JournalEntry
        ) async throws {
            let bytes = UnsafeMutableRawBufferPointer.allocate(
                byteCount: run.bytes.count, alignment: 8)
            defer { bytes.deallocate() }
            bytes.copyBytes(from: run.bytes)
            var offset = 0
            while offset < bytes.count {
                guard
                    let frame = Frame.view(
                        in: UnsafeRawBufferPointer(bytes), at: offset, seed: ChecksumSeed(run.seed))
                else {
                    throw RoostError(
                        .corrupt, "a batch's checksum does not hold",
                        file: ObjectName.entry(entry.index), offset: UInt64(offset))
                }
                if frame.sequence > limit { return }
                if frame.sequence > engine.lastSequence {
                    try await engine.apply(frame)
                    batchCount += 1
                }
                offset += frame.sizeBytes
            }
        }
    }
#endif
