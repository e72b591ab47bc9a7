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
            if events[first].owner !== event.owner {
                runCount -= 1
                // What is gone must not keep its segment, however few events there are.
                compact()
            } else if first > events.count / 2, first > 64 {
                compact()
            }
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

    /// As the other, into an array that is empty: its room is used for what comes.
    mutating func takeAll(into room: inout [WatchEvent]) {
        if first > 0 { compact() }
        runCount = 0
        swap(&events, &room)
    }

    mutating func add(_ batch: [WatchEvent], _ buffering: Watcher.Buffering) {
        switch buffering {
        case .bounded(let capacity):
            let runs = runCount(with: batch)
            let fits = isEmpty || (count < capacity && runs <= Self.largestRunCount)
            if fits { append(batch, runs) } else { miss(batch.count) }
        case .newest(let capacity):
            append(batch, runCount(with: batch))
            while count > capacity || (runCount > Self.largestRunCount && count > 1) {
                _ = popFirst()
            }
        }
    }

    private mutating func append(_ batch: [WatchEvent], _ runs: Int) {
        runCount = runs
        // Mostly it is one.
        for event in batch { events.append(event) }
    }

    private func runCount(with batch: [WatchEvent]) -> Int {
        var runs = runCount
        for index in batch.indices {
            if index > 0 {
                if batch[index - 1].owner !== batch[index].owner { runs += 1 }
            } else if isEmpty || events[events.count - 1].owner !== batch[index].owner {
                runs += 1
            }
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
