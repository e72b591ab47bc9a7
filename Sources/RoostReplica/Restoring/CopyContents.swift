#if Replica
    import Foundation
    import Roost

    /// What a copy can be restored to.
    public struct CopyContents: Sendable {
        /// A stretch of one history, every moment of which can be restored: from a base, which holds a state as a
        /// whole, up to the next one or to the end of the history.
        public struct Stretch: Sendable {
            /// When the base was begun, by the writer's clock.
            public var firstDate: Date
            /// When the next stretch of the history begins, or the last moment that the copy knows of the history; `nil`
            /// where that is gone or damaged.
            public var lastDate: Date?
            /// The batch whose state the base holds.
            public var firstSequence: UInt64
            /// The batch of then; `nil` as ``lastDate``.
            public var lastSequence: UInt64?
            /// Bytes of the base's snapshots, as they are stored.
            public var sizeBytes: UInt64
            /// Bytes of those that no older base has.
            public var newBytes: UInt64
            /// Names the history: two stretches with one name were written by one workspace, one after the other.
            public var history: String
            /// Why the base cannot be begun with. What lies in its stretch is then restored from an older base of
            /// the same history, if there is one.
            public var problem: RoostError?
        }

        /// The oldest first; none where the copy was begun and has no base yet.
        public var stretches: [Stretch] = []
        /// The last batch that was copied.
        public var lastSequence: UInt64
        /// When the writer gave its last sign of life, by its clock.
        public var lastDate: Date
        /// An entry of the journal that cannot be read: the last one, whose batches are not listed, or one before which
        /// there may be more than is listed.
        public var problem: RoostError?
    }

    extension Replica {
        /// What `storage` holds: from when to when it can be restored. Reads the journal's entries that name bases and
        /// the bases themselves, which is some KiB for each, and no snapshot; what was copied is not changed, and may
        /// go on being copied to.
        ///
        /// ```swift
        /// for stretch in try await Replica.contents(of: storage).stretches {
        ///     print(stretch.firstDate, stretch.lastDate as Any, stretch.sizeBytes)
        /// }
        /// ```
        ///
        /// - Throws: `.io` where the storage cannot be had, or there is no copy; `.wrongKey` as
        ///   ``restore(from:encryption:to:files:at:)``; `.corrupt` where no entry of the journal can be read;
        ///   `.unsupportedVersion`.
        public static func contents(
            of storage: any ObjectStorage, encryption: WorkspaceEncryption? = nil
        ) async throws -> CopyContents {
            let copy = try await CopyPlace(storage, encryption).open(begins: false)
            let (found, damage) = try await JournalReader.readableEnd(of: copy.storage)
            guard let end = found else { throw damage ?? OpenedCopy.noCopy }
            let chain = try await BaseChain(from: end.standing.base, in: copy.storage)
            var contents = CopyContents(
                lastSequence: end.standing.lastSequence,
                lastDate: Date(milliseconds: end.standing.time))
            contents.problem = damage ?? chain.damagedEnd
            // The newest first: where one ends is known from the one after it.
            var newer: JournalEntry?
            for link in chain.links {
                var stretch = CopyContents.Stretch(link)
                if let newer, newer.standing.history == link.entry.standing.history {
                    stretch.lastDate = contents.stretches.last?.firstDate
                    stretch.lastSequence = contents.stretches.last?.firstSequence
                } else if let last = try await lastMoment(
                    of: link.entry.standing.history, before: newer?.standing.start ?? end.index + 1,
                    in: copy.storage)
                {
                    // A base that holds all of a history is dated by when it was begun, after the last batch.
                    stretch.lastDate = max(last.date, stretch.firstDate)
                    stretch.lastSequence = max(last.sequence, stretch.firstSequence)
                }
                contents.stretches.append(stretch)
                newer = link.entry
            }
            contents.stretches.reverse()
            contents.countNewBytes(chain)
            return contents
        }

        /// The last moment that the entries of `history` tell of, all of which are before the one at `index`; `nil` where
        /// that is gone or damaged.
        private static func lastMoment(
            of history: Identifier, before index: UInt64, in storage: any ObjectStorage
        ) async throws -> (date: Date, sequence: UInt64)? {
            do {
                var index = index
                while let entry = try await JournalReader.entry(before: index, in: storage) {
                    index = entry.index
                    if entry.standing.history != history {
                        // A history that was begun and never had a base lies between.
                        index = min(index, entry.standing.start)
                    } else if let time = try timeOfLastBatch(entry) {
                        return (Date(milliseconds: time), entry.standing.lastSequence)
                    }
                }
                return nil
            } catch let error as RoostError where error.code == .corrupt { return nil }
        }

        /// `nil` where the entry tells of no moment.
        private static func timeOfLastBatch(_ entry: JournalEntry) throws -> UInt64? {
            switch entry.kind {
            case .frames: try FramesPayload(entry).lastTime(entry)
            case .start: entry.standing.time
            default: nil
            }
        }
    }

    extension CopyContents.Stretch {
        fileprivate init(_ link: BaseChain.Link) {
            let standing = link.entry.standing
            firstDate = Date(milliseconds: standing.time)
            firstSequence = standing.lastSequence
            sizeBytes = 0
            newBytes = 0
            history = "\(standing.history)"
            switch link.record {
            case .success(let record):
                firstDate = Date(milliseconds: record.time)
                firstSequence = record.completeSequence
                sizeBytes = record.snapshots.reduce(0) { $0 + $1.sizeBytes }
            case .failure(let damage): problem = damage
            }
        }
    }

    extension CopyContents {
        /// `chain` names the bases of the stretches, the newest first.
        fileprivate mutating func countNewBytes(_ chain: BaseChain) {
            var known: Set<String> = []
            for (place, link) in chain.links.reversed().enumerated() {
                guard case .success(let record) = link.record else { continue }
                stretches[place].newBytes = record.snapshots.reduce(0) {
                    $0 + (known.insert($1.name).inserted ? $1.sizeBytes : 0)
                }
            }
        }
    }
#endif
