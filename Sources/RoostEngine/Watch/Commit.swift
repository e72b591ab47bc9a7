import RoostFormat
import RoostIO
import RoostLog

/// A batch that is visible: where its changes stand in the log.
struct Commit: Sendable {
    let sequence: UInt64
    private let frameLocation: UInt
    private let region: MappedRegion
    private let changes: [EncodedBatch.Change]
    private let clears: [[UInt8]]
    /// The provisional version under which an enqueued write was visible; zero for all others.
    let enqueuedVersion: UInt64
    /// Watchers that came later knew of the batch already.
    var lastWatcher: UInt64

    init(
        _ appended: LogWriter.Appended, changes: [EncodedBatch.Change], clears: [[UInt8]] = [],
        enqueuedVersion: UInt64 = 0, lastWatcher: UInt64 = .max
    ) {
        sequence = appended.sequence
        frameLocation = appended.location
        region = appended.region
        self.changes = changes
        self.clears = clears
        self.enqueuedVersion = enqueuedVersion
        self.lastWatcher = lastWatcher
    }

    /// A batch of one change.
    init(
        _ appended: LogWriter.Appended, hash: UInt64, enqueuedVersion: UInt64 = 0,
        lastWatcher: UInt64 = .max
    ) {
        self.init(
            appended, changes: [.init(hash: hash, frameOffset: Frame.headerSizeBytes)],
            enqueuedVersion: enqueuedVersion, lastWatcher: lastWatcher)
    }

    fileprivate typealias Found = (operation: Operation, hash: UInt64)

    /// Hands the batch to those of the watchers that look at what it changes.
    func deliver(
        to watchers: WatcherTable, _ delivery: ChangeFeed.Delivery, _ room: inout DeliveryRoom,
        _ wakes: inout Wakes
    ) {
        findNewest(watchers, &room.found)
        for target in watchers.ranges where isFor(target, delivery) {
            if !clears.isEmpty, clears.contains(where: { target.target.isIn(dictionary: $0) }) {
                room.events.append(cleared)
            }
            for (operation, _) in room.found where target.target.contains(operation.key) {
                room.events.append(changed(operation))
            }
            target.push(room.events, &wakes)
            room.removeEvents()
        }
        if !watchers.keys.isEmpty {
            for (operation, hash) in room.found {
                for target in watchers.keys[hash] ?? [] where isFor(target, delivery) {
                    guard target.target.contains(operation.key) else { continue }
                    target.push([changed(operation)], enqueuedVersion: enqueuedVersion, &wakes)
                }
            }
            if !clears.isEmpty { deliverClears(to: watchers, delivery, room.found, &wakes) }
        }
        room.removeFound()
    }

    /// Keys that the batch empties and does not set.
    private func deliverClears(
        to watchers: WatcherTable, _ delivery: ChangeFeed.Delivery, _ found: [Found],
        _ wakes: inout Wakes
    ) {
        let set = Set(found.lazy.map(\.hash))
        for (hash, targets) in watchers.keys {
            for target in targets where isFor(target, delivery) {
                guard clears.contains(where: { target.target.isIn(dictionary: $0) }),
                    !set.contains(hash)
                        || !found.contains(where: { target.target.contains($0.operation.key) })
                else { continue }
                target.push([cleared], &wakes)
            }
        }
    }

    private func isFor(_ watcher: Watcher, _ delivery: ChangeFeed.Delivery) -> Bool {
        watcher.id <= lastWatcher && delivery.includes(watcher)
    }

    /// The changes that anybody may look at, each key's last.
    private func findNewest(_ watchers: WatcherTable, _ found: inout [Found]) {
        for change in changes
        where !watchers.ranges.isEmpty || watchers.keys[change.hash] != nil {
            found.append(
                (Operation(location: frameLocation + UInt(change.frameOffset)), change.hash))
        }
        if found.count <= Self.fewCount, !Self.hasEqualHashes(found) { return }
        found = lastOfEachKey(found)
    }

    private func lastOfEachKey(_ found: [Found]) -> [Found] {
        var last: [UInt64: Int] = [:]
        last.reserveCapacity(found.count)
        for (index, found) in found.enumerated() { last[found.hash] = index }
        guard last.count < found.count else { return found }
        return found.indices.filter { index in
            // Of several keys with one hash all stay: a key's last is never left out.
            let other = found[last[found[index].hash]!].operation
            return last[found[index].hash] == index
                || !equalBytes(other.key, found[index].operation.key)
        }.map { found[$0] }
    }

    /// So few changes are compared with each other sooner than a table of them is made.
    private static let fewCount = 8

    private static func hasEqualHashes(_ found: [Found]) -> Bool {
        for index in found.indices {
            for other in 0..<index where found[other].hash == found[index].hash { return true }
        }
        return false
    }

    private var cleared: WatchEvent {
        WatchEvent(content: .cleared, version: sequence, owner: region)
    }

    private func changed(_ operation: Operation) -> WatchEvent {
        WatchEvent(content: .changed(operation), version: sequence, owner: region)
    }
}

/// What the delivery of one batch after the other needs, so that none has to be given memory for it.
struct DeliveryRoom: Sendable {
    fileprivate var found: [Commit.Found] = []
    fileprivate var events: [WatchEvent] = []
    /// Room for so many is kept.
    private static let keptCount = 64

    fileprivate mutating func removeEvents() {
        events.removeAll(keepingCapacity: events.capacity <= Self.keptCount)
    }

    fileprivate mutating func removeFound() {
        found.removeAll(keepingCapacity: found.capacity <= Self.keptCount)
    }
}

/// Who looks at what; only `ChangeFeed` changes it.
struct WatcherTable: Sendable {
    /// Watchers of one key, by the key's hash.
    var keys: [UInt64: [Watcher]] = [:]
    var ranges: [Watcher] = []
    /// How many of all of them get batches in order.
    private(set) var orderedCount = 0

    var isEmpty: Bool { keys.isEmpty && ranges.isEmpty }
    var all: [Watcher] { ranges + keys.values.joined() }

    mutating func add(_ watcher: Watcher) {
        if watcher.isOrdered { orderedCount += 1 }
        switch watcher.target {
        case .key(_, let hash): keys[hash, default: []].append(watcher)
        case .range: ranges.append(watcher)
        }
    }

    /// Nothing where it was not added, or was removed before.
    mutating func remove(_ watcher: Watcher) {
        var isFound = false
        let isRemoved: (Watcher) -> Bool = { other in
            if other === watcher { isFound = true }
            return other === watcher
        }
        switch watcher.target {
        case .key(_, let hash):
            keys[hash]?.removeAll(where: isRemoved)
            if keys[hash]?.isEmpty == true { keys[hash] = nil }
        case .range: ranges.removeAll(where: isRemoved)
        }
        if isFound, watcher.isOrdered { orderedCount -= 1 }
    }
}
