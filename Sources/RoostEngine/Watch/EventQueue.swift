import RoostIO

/// The events that wait for a watcher's reader, the oldest first.
///
/// - `runCount` is the count of stretches of events whose bytes are in one segment. An event
///   keeps its whole segment from being given back to the disk, so a reader that stands still
///   holds no more than a few.
struct EventQueue: Sendable {
    private static let largestRunCount = 4

    private var events: [WatchEvent] = []
    /// How many of `events` are gone already.
    private var first = 0
    private var runCount = 0

    var isEmpty: Bool { first == events.count }
    var count: Int { events.count - first }

    mutating func popFirst() -> WatchEvent? {
        guard first < events.count else { return nil }
        let event = events[first]
        first += 1
        if first == events.count {
            events.removeAll(keepingCapacity: count < 64 && events.capacity <= 64)
            first = 0
            runCount = 0
        } else {
            if events[first].owner !== event.owner { runCount -= 1 }
            if first > events.count / 2, first > 64 { compact() }
        }
        return event
    }

    mutating func takeAll() -> [WatchEvent] {
        if first > 0 { compact() }
        runCount = 0
        let all = events
        events = []
        return all
    }

    mutating func add(_ batch: [WatchEvent], _ buffering: Watcher.Buffering) {
        switch buffering {
        case .bounded(let capacity):
            let runs = runCount(with: batch)
            let fits = isEmpty || (count < capacity && runs <= Self.largestRunCount)
            if fits { append(batch) } else { miss(batch.count) }
        case .newest(let capacity):
            append(batch)
            while count > capacity || (runCount > Self.largestRunCount && count > 1) {
                _ = popFirst()
            }
        }
    }

    private mutating func append(_ batch: [WatchEvent]) {
        runCount = runCount(with: batch)
        events.append(contentsOf: batch)
    }

    private func runCount(with batch: [WatchEvent]) -> Int {
        var runs = runCount
        var last = isEmpty ? nil : events.last
        for event in batch {
            if last == nil || last?.owner !== event.owner { runs += 1 }
            last = event
        }
        return runs
    }

    private mutating func miss(_ count: Int) {
        if case .missed(let before)? = events.last?.content, !isEmpty {
            events[events.count - 1] = WatchEvent(
                content: .missed(before + count), owner: events[events.count - 1].owner)
        } else {
            events.append(WatchEvent(content: .missed(count), owner: events.last?.owner))
        }
    }

    private mutating func compact() {
        events.removeFirst(first)
        first = 0
    }
}
