import RoostFormat

/// What the keys of a dictionary in one order mean to counts of ranges: of each whether the table has a value
/// for it now, and whether cold storage has. Brought up to date by each count.
struct OrderCounts {
    /// Of the cold storage that was asked; `nil` where it had nothing.
    let coldGeneration: UInt64?
    /// What was written before it is gone.
    let clearedSequence: UInt64
    private var counted: [CountedRun]
    /// What was noted of keys that are counted, in the order in which it came.
    private var replaced: [UInt] = []
    /// Whether it is of no use, as some value has a deadline: what is live then depends on when it is asked.
    private(set) var hasDeadlines = false

    private static let leastReplacedLimit = 4096

    /// The keys of `runs`, of which `current` are the operations that the tables have on them now.
    init(
        _ runs: [OrderedRun], current: [[UInt]], coldGeneration: UInt64?, clearedSequence: UInt64,
        _ isCold: (UnsafeRawBufferPointer) throws -> Bool
    ) rethrows {
        self.coldGeneration = coldGeneration
        self.clearedSequence = clearedSequence
        counted = []
        for (run, locations) in zip(runs, current) {
            var keys: [CountedKey] = []
            keys.reserveCapacity(run.count)
            for index in 0..<run.count {
                var key: CountedKey = []
                if locations[index] != 0, run.isFirst(index), !isOwned(run.key(index)) {
                    key = try self.key(Operation(location: locations[index]), isCold)
                }
                keys.append(key)
            }
            counted.append(CountedRun(run, keys))
        }
    }

    private mutating func key(
        _ operation: Operation, _ isCold: (UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> CountedKey {
        if operation.expires { hasDeadlines = true }
        var key: CountedKey = isLive(operation) ? [.owns, .live] : .owns
        if try isCold(operation.key) { key.insert(.cold) }
        return key
    }

    /// Without regard to deadlines.
    func isLive(_ operation: Operation) -> Bool {
        operation.isPut && (clearedSequence == 0 || operation.sequence >= clearedSequence)
    }

    private func isOwned(_ key: UnsafeRawBufferPointer) -> Bool {
        counted.contains { $0.owner(of: key) != nil }
    }

    /// Takes what was noted of one of the keys; `false` where that is too much to keep.
    mutating func note(_ operation: UInt) -> Bool {
        replaced.append(operation)
        let keyCount = counted.reduce(0) { $0 + $1.run.count }
        return replaced.count <= max(Self.leastReplacedLimit, keyCount / 2)
    }

    /// Brings it up to date with `runs`, which have all keys that are counted and new ones, and with what
    /// was noted; `false` where the two do not fit each other.
    mutating func update(
        _ runs: [OrderedRun], _ isCold: (UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        if runs.count != counted.count || !zip(runs, counted).allSatisfy({ $0 === $1.run }) {
            guard try take(runs, isCold) else { return false }
        }
        let replaced = replaced
        self.replaced = []
        for location in replaced {
            let operation = Operation(location: location)
            if operation.expires { hasDeadlines = true }
            var isFound = false
            for index in counted.indices {
                guard let place = counted[index].owner(of: operation.key) else { continue }
                var key = counted[index].keys[place]
                if isLive(operation) { key.insert(.live) } else { key.remove(.live) }
                counted[index].set(key, at: place)
                isFound = true
                break
            }
            if !isFound { return false }
        }
        return true
    }

    /// What is known of keys goes with them from the runs that are gone into those that have taken them in.
    private mutating func take(
        _ runs: [OrderedRun], _ isCold: (UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        var gone = counted.filter { known in !runs.contains { $0 === known.run } }
            .map { (known: $0, next: 0) }
        var added: [(run: Int, place: Int)] = []
        var merged: [(run: OrderedRun, keys: [CountedKey])] = []
        let kept = counted
        for (number, run) in runs.enumerated() {
            if let same = kept.first(where: { $0.run === run }) {
                merged.append((run, same.keys))
                continue
            }
            var keys = [CountedKey](repeating: [], count: run.count)
            for place in 0..<run.count {
                let location = run.locations[place]
                let from = gone.firstIndex {
                    $0.next < $0.known.run.count && $0.known.run.locations[$0.next] == location
                }
                guard let from else {
                    added.append((number, place))
                    continue
                }
                keys[place] = gone[from].known.keys[gone[from].next]
                gone[from].next += 1
            }
            merged.append((run, keys))
        }
        guard gone.allSatisfy({ $0.next == $0.known.run.count }) else { return false }
        counted = merged.map { one in
            kept.first { $0.run === one.run } ?? CountedRun(one.run, one.keys)
        }
        for (number, place) in added {
            let operation = Operation(location: counted[number].run.locations[place])
            guard !isOwned(operation.key) else { continue }
            counted[number].set(try key(operation, isCold), at: place)
        }
        return true
    }

    /// By how many the keys in `range` make a count another than that of cold storage.
    func change(in range: RecordRange) -> Int {
        counted.reduce(0) { sum, counted in
            let places = counted.run.places(in: range)
            return sum + counted.change(before: places.upperBound)
                - counted.change(before: places.lowerBound)
        }
    }
}

extension OrderedRun {
    /// The places of the keys in `range`.
    func places(in range: RecordRange) -> Range<Int> {
        let begin = range.lower.withUnsafeBytes { firstIndex(notBefore: $0) }
        let end = range.upper.map { $0.withUnsafeBytes { firstIndex(notBefore: $0) } } ?? count
        return begin..<max(begin, end)
    }

    /// Whether the key at `index` is not that before it.
    func isFirst(_ index: Int) -> Bool {
        index == 0 || words[index] != words[index - 1] || !equalBytes(key(index), key(index - 1))
    }
}
