#if Replica
    /// Decides what is to be copied when. No I/O, and no clock: moments are arguments.
    ///
    /// - `marks` are ascending, and of batches that are not copied yet.
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
        private var lastTime: UInt64 = 0
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
        var tick: UInt64 { max(interval / 10, 5) }

        /// Notes that `sequence` was the last batch at `time` of the day. Time does not go back, unless it
        /// was far ahead.
        mutating func observe(_ sequence: UInt64, time: UInt64, now: UInt64) {
            guard sequence > seenSequence else { return }
            seenSequence = sequence
            marks.append((Mark(time: monotonic(time), sequence: sequence), now))
            if marks.count > Self.maximumMarkCount {
                // The newest stays.
                let newest = marks.count - 1
                marks = marks.enumerated().filter { $0.offset % 2 == newest % 2 }.map(\.element)
            }
        }

        /// The time of the day for what is written next.
        mutating func monotonic(_ time: UInt64) -> UInt64 {
            if time > lastTime || lastTime > time + Self.maximumAhead { lastTime = time }
            return lastTime
        }

        /// What is due. The copy begins at half of the interval, so that it can be there at its end.
        func action(now: UInt64, isAsked: Bool) -> Action {
            if let first = marks.first, isAsked || now >= first.seenAt + interval / 2 {
                return .copy
            }
            return now >= wroteAt + signOfLifeInterval ? .signOfLife : .wait
        }

        /// The marks of batches up to `sequence`, which are being copied.
        func marks(through sequence: UInt64) -> [Mark] {
            marks.prefix { $0.mark.sequence <= sequence }.map(\.mark)
        }

        /// Batches up to `sequence` are copied, with `logBytes` of log.
        mutating func noteCopied(through sequence: UInt64, logBytes: UInt64, now: UInt64) {
            marks.removeAll { $0.mark.sequence <= sequence }
            bytesSinceBase += logBytes
            wroteAt = now
        }

        mutating func noteWritten(now: UInt64) { wroteAt = now }

        /// The journal holds the batches up to `sequence`, and was last written to at `time`.
        mutating func goOn(behind sequence: UInt64, time: UInt64 = 0) {
            marks.removeAll { $0.mark.sequence <= sequence }
            lastTime = max(lastTime, time)
        }

        // MARK: Bases

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
