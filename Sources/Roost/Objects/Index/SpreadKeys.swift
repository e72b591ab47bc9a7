import RoostEngine
import RoostFormat
import RoostIO

/// Some keys of a dictionary, spread over its records by how many there are between: whichever part has most of them
/// is halved next.
///
/// - How many are before a key the engine counts without a look at them. Where only a scan would tell, a part is taken
///   to have half of what the one had that it is of.
/// - A half is found by bisecting the bytes of the keys, and is good enough between a fourth and three fourths.
struct SpreadKeys {
    private struct Part {
        let lower: [UInt8]
        let upper: [UInt8]
        let count: Int
    }

    private let name: DictionaryName
    private let view: EngineView
    private static var lookCount: Int { 12 }
    /// For what is not counted.
    private static var assumedCount: Int { 1 << 20 }

    init(_ name: DictionaryName, _ view: EngineView) {
        self.name = name
        self.view = view
    }

    /// The first and the last `endCount` keys, and about `betweenCount` others, each once; with `limit` only such
    /// as are not behind it. Without the dictionary's prefix.
    func keys(endCount: Int, betweenCount: Int, through limit: [UInt8]? = nil) throws -> [[UInt8]] {
        let upper = limit.map { $0 + [0] }
        var found = try keys(from: [], to: upper, .ascending, endCount)
        let last = try keys(from: [], to: upper, .descending, endCount)
        guard let lowest = found.last, let highest = last.last, bytes(lowest, precede: highest)
        else { return distinct(found + last) }
        for boundary in try boundaries(lowest, highest, betweenCount) {
            found += try keys(from: boundary, to: highest, .ascending, 1)
        }
        return distinct(found + last)
    }

    private func distinct(_ keys: [[UInt8]]) -> [[UInt8]] {
        var seen: Set<[UInt8]> = []
        return keys.filter { seen.insert($0).inserted }
    }

    private func keys(
        from lower: [UInt8], to upper: [UInt8]?, _ order: ScanOrder, _ limit: Int
    ) throws -> [[UInt8]] {
        let scan = try view.scan(
            RecordRange(name, lower: lower, upper: upper), order, limit: limit)
        var keys: [[UInt8]] = []
        while keys.count < limit, let recordKey = scan.recordKey {
            keys.append(Array(recordKey[name.prefix.count...]))
            try scan.moveToNext()
        }
        return keys
    }

    private func boundaries(
        _ lower: [UInt8], _ upper: [UInt8], _ limit: Int
    ) throws -> [[UInt8]] {
        let count = try view.count(in: RecordRange(name, lower: lower, upper: upper))
        var parts = [Part(lower: lower, upper: upper, count: count ?? Self.assumedCount)]
        var found: [[UInt8]] = []
        while found.count < limit,
            let largest = parts.indices.max(by: { parts[$0].count < parts[$1].count }),
            parts[largest].count > 1
        {
            let part = parts.remove(at: largest)
            guard let (middle, below) = try halve(part, isCounted: count != nil) else { continue }
            found.append(middle)
            parts.append(Part(lower: part.lower, upper: middle, count: below))
            parts.append(Part(lower: middle, upper: part.upper, count: part.count - below))
        }
        return found
    }

    /// A place in a part, and how many keys are before it; `nil` where none is found that has some on both sides.
    private func halve(
        _ part: Part, isCounted: Bool
    ) throws -> (middle: [UInt8], below: Int)? {
        var (lower, upper) = (part.lower, part.upper)
        var found: (middle: [UInt8], below: Int)?
        for _ in 0..<Self.lookCount {
            guard let middle = Self.middle(lower, upper) else { break }
            guard isCounted else { return (middle, part.count / 2) }
            let range = RecordRange(name, lower: part.lower, upper: middle)
            guard let below = try view.count(in: range) else { break }
            if below > 0, below < part.count { found = (middle, below) }
            if below < part.count / 4 {
                lower = middle
            } else if below > part.count - part.count / 4 {
                upper = middle
            } else {
                break
            }
        }
        return found
    }

    /// Halfway between two keys, by the eight bytes after those that they share; `nil` where these leave nothing
    /// between.
    private static func middle(_ lower: [UInt8], _ upper: [UInt8]) -> [UInt8]? {
        let sharedCount = zip(lower, upper).prefix { $0 == $1 }.count
        func number(_ key: [UInt8]) -> UInt64 {
            (sharedCount..<sharedCount + 8).reduce(0) { number, place in
                number << 8 | UInt64(place < key.count ? key[place] : 0)
            }
        }
        let (low, high) = (number(lower), number(upper))
        let middle = low + (high - low) / 2
        guard middle > low else { return nil }
        return lower.prefix(sharedCount) + withUnsafeBytes(of: middle.bigEndian) { Array($0) }
    }
}
