import RoostFormat
import RoostIO
import RoostLog

/// How far a watcher that began at an earlier version has read the log.
struct HistoryCursor: Sendable {
    /// Read at one go at the most, so that a reader gives way and learns of its cancellation.
    private static let stretchFrameCount = 2048

    let log: (any CommittedLog)?
    /// The last sequence number when the watcher began: before all up to it is resolved, nobody
    /// knows what the watcher was told of and what it has to read.
    let beganAt: UInt64
    /// The next sequence number to read.
    private(set) var next: UInt64
    /// Where its frame stands, if known.
    private var place: (segment: LogHistory.Segment, offset: Int)?

    init(since version: UInt64, log: (any CommittedLog)?, lastSequence: UInt64) {
        self.log = log
        beganAt = lastSequence
        next = min(version, lastSequence) + 1
    }

    /// Reads up to the first batches that change what `target` looks at, no further than
    /// `boundary`, up to which every batch is visible or given up for good.
    mutating func read(
        through boundary: UInt64, target: WatchTarget, aborted: Set<UInt64>
    ) -> [WatchEvent] {
        var frameCount = 0
        while next <= boundary, frameCount < Self.stretchFrameCount {
            guard let (segment, frame) = nextFrame(through: boundary) else {
                return [skip(through: boundary)]
            }
            frameCount += 1
            let events = aborted.contains(frame.sequence) ? [] : events(of: frame, segment, target)
            place = (segment, place!.offset + frame.sizeBytes)
            next += 1
            if !events.isEmpty { return events }
        }
        return []
    }

    /// The frame of `next`, where the log still holds it.
    private mutating func nextFrame(
        through boundary: UInt64
    ) -> (LogHistory.Segment, Frame.View)? {
        while let (segment, offset) = place ?? begin() {
            place = (segment, offset)
            let frame = Frame.view(in: segment.region.bytes, at: offset, seed: segment.seed)
            if let frame, !frame.flags.contains(.seal), frame.sequence <= next {
                if frame.sequence == next { return (segment, frame) }
                place = (segment, offset + frame.sizeBytes)
                continue
            }
            // The segment's end: the next one begins with the frame, or it is gone.
            place = nil
            guard let following = begin(), following.segment.number > segment.number else {
                return nil
            }
        }
        return nil
    }

    private func begin() -> (segment: LogHistory.Segment, offset: Int)? {
        (log?.history.segments.last { $0.firstSequence <= next }).map {
            ($0, SegmentHeader.sizeBytes)
        }
    }

    /// Goes on with the oldest frame that the log holds.
    private mutating func skip(through boundary: UInt64) -> WatchEvent {
        let oldest = log?.history.segments.lazy.map(\.firstSequence).first { [next] in $0 > next }
        let target = min(oldest ?? boundary + 1, boundary + 1)
        defer { next = target }
        return WatchEvent(content: .missed(Int(target - next)))
    }

    private func events(
        of frame: Frame.View, _ segment: LogHistory.Segment, _ target: WatchTarget
    ) -> [WatchEvent] {
        var isCleared = false
        var last: [[UInt8]: Int] = [:]
        var operations: [Operation] = []
        // The frame was laid out by this process, or divided into its operations when it was read.
        _ = frame.forEachOperation { operation in
            if operation.rawKind == Operation.Kind.clear.rawValue {
                if target.isIn(dictionary: Array(operation.key)) { isCleared = true }
            } else if target.contains(operation.key) {
                last[Array(operation.key)] = operations.count
                operations.append(operation)
            }
        }
        var events = operations.indices.filter { last[Array(operations[$0].key)] == $0 }.map {
            WatchEvent(
                content: .changed(operations[$0]), version: frame.sequence, owner: segment.region)
        }
        if isCleared, events.isEmpty || !target.isKey {
            let cleared = WatchEvent(
                content: .cleared, version: frame.sequence, owner: segment.region)
            events.insert(cleared, at: 0)
        }
        return events
    }
}
