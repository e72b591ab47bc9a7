#if Replica
    /// Decides what is to be copied when. No I/O, and no clock: moments are arguments.
    ///
    /// - `marks` are ascending, and of batches that are not copied yet.
    /// - Times of marks ascend, and times of entries ascend, each for itself: an entry may be written, and dated,
    ///   before a mark is taken that is older than it.
    struct CopySchedule: Sendable {
        enum Action: Sendable, Equatable {
            /// What has been committed goes out.
            case copy
            /// Nothing was committed for long: says that the writer is there, and learns whether another is.
            case signOfLife
            case wait
        }

        /// In milliseconds, as are all durations here.
        let interval: UInt64
        let signOfLifeInterval: UInt64
        /// Each with when it was seen, by a clock that never goes back.
        private var marks: [(mark: Mark, seenAt: UInt64)] = []
        /// The last batch that was seen.
        private var seenSequence: UInt64 = 0
        private var lastMarkTime: UInt64 = 0
        private var lastEntryTime: UInt64 = 0
        /// When the last entry was written, by the clock of `seenAt`, which never goes back.
        private var wroteAt: UInt64

        /// Log bytes copied since the last base was begun, and at which of them the next is thought of.
        private(set) var bytesSinceBase: UInt64 = 0
        private var baseThought: UInt64
        private let minimumBytesBetweenBases: UInt64
        /// A base is worth it once so many times its bytes of log were copied.
        static let logBytesPerBaseByte: UInt64 = 4
        /// More marks than this are thinned: moments then are further apart.
        private static let maximumMarkCount = 4096
        /// A minute.
        private static let longestTick: UInt64 = 60_000
        /// A clock that is further ahead than this was wrong.
        private static let maximumAhead: UInt64 = 600_000

        init(
            interval: UInt64, signOfLifeInterval: UInt64, minimumBytesBetweenBases: UInt64,
            now: UInt64
        ) {
            self.interval = interval
            self.signOfLifeInterval = signOfLifeInterval
            self.minimumBytesBetweenBases = minimumBytesBetweenBases
            baseThought = minimumBytesBetweenBases
            wroteAt = now
        }

        /// How often to look.
        var tick: UInt64 { min(max(min(interval, signOfLifeInterval) / 10, 5), Self.longestTick) }

        /// Notes that `sequence` was the last batch at `time` of the day. Time does not go back, unless it
        /// was far ahead.
        mutating func observe(_ sequence: UInt64, time: UInt64, now: UInt64) {
            guard sequence > seenSequence else { return }
            seenSequence = sequence
            marks.append((Mark(time: markTime(time), sequence: sequence), now))
            Self.thin(&marks)
        }

        /// Leaves out every second, but not the newest, once there are more than are kept.
        static func thin<Element>(_ elements: inout [Element]) {
            guard elements.count > maximumMarkCount else { return }
            let newest = elements.count - 1
            elements = elements.enumerated().filter { $0.offset % 2 == newest % 2 }.map(\.element)
        }

        private mutating func markTime(_ time: UInt64) -> UInt64 {
            Self.ascend(&lastMarkTime, to: time)
        }

        /// The time of the day for the entry that is written next.
        mutating func entryTime(_ time: UInt64) -> UInt64 {
            Self.ascend(&lastEntryTime, to: time)
        }

        private static func ascend(_ last: inout UInt64, to time: UInt64) -> UInt64 {
            last = ascended(time, behind: last)
            return last
        }

        /// `time`, or `last` where a clock was set back from that; not where it was far ahead.
        static func ascended(_ time: UInt64, behind last: UInt64) -> UInt64 {
            time > last || last > time + maximumAhead ? time : last
        }

        /// What is due. The copy begins at half of the interval, so that it can be there at its end.
        func action(now: UInt64, isAsked: Bool) -> Action {
            if let first = marks.first, isAsked || now >= first.seenAt + interval / 2 {
                return .copy
            }
            return now >= wroteAt + signOfLifeInterval ? .signOfLife : .wait
        }

        /// The marks of batches up to `sequence`, which are being copied. The last is of `sequence`, so that
        /// it is known of each by when it was committed: as of the next batch of which that is known, or at
        /// `time`.
        mutating func marks(upTo sequence: UInt64, time: UInt64) -> [Mark] {
            let count = marks.prefix { $0.mark.sequence <= sequence }.count
            var found = marks[..<count].map(\.mark)
            if found.last?.sequence != sequence {
                let time = count < marks.count ? marks[count].mark.time : markTime(time)
                found.append(Mark(time: time, sequence: sequence))
            }
            return found
        }

        /// Batches up to `sequence` are copied, with `logBytes` of log.
        mutating func noteCopied(through sequence: UInt64, logBytes: UInt64, now: UInt64) {
            marks.removeAll { $0.mark.sequence <= sequence }
            bytesSinceBase += logBytes
            wroteAt = now
        }

        mutating func noteWritten(now: UInt64) { wroteAt = now }

        /// The journal holds the batches up to `sequence`. Its last entry is of `entryTime`, and the last that
        /// has marks of `markTime` at the latest.
        mutating func goOn(behind sequence: UInt64, markTime: UInt64 = 0, entryTime: UInt64 = 0) {
            marks.removeAll { $0.mark.sequence <= sequence }
            // A mark of what is copied would wait for ever for its copy, and no sign of life be given.
            seenSequence = max(seenSequence, sequence)
            noteEarlier(markTime: markTime, entryTime: entryTime)
        }

        /// What is written from here on is not dated before these, unless they are far ahead: a base holds all
        /// batches of before, and a moment between would be given those of later moments.
        mutating func noteEarlier(markTime: UInt64, entryTime: UInt64) {
            lastMarkTime = max(lastMarkTime, markTime)
            lastEntryTime = max(lastEntryTime, entryTime)
        }

        // MARK: Bases

        /// Earlier copiers have added so many bytes since the last base.
        mutating func noteCopiedBefore(logBytes: UInt64) { bytesSinceBase += logBytes }

        /// Whether to look what a base would cost.
        var thinksOfBase: Bool { bytesSinceBase >= baseThought }

        /// Whether a base is worth it that takes `newSizeBytes` of snapshots that no other has.
        mutating func isBaseDue(newSizeBytes: UInt64) -> Bool {
            if bytesSinceBase >= Self.logBytesPerBaseByte * newSizeBytes { return true }
            baseThought = bytesSinceBase + minimumBytesBetweenBases
            return false
        }

        mutating func noteBaseBegun() {
            bytesSinceBase = 0
            baseThought = minimumBytesBetweenBases
        }
    }
#endif
