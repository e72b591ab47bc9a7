import RoostFormat

/// The keys of several ranges, to be asked of many keys: who scans often rests on many ranges.
///
/// - `spans` are in the order of the keys, none is empty, and each ends before the next begins.
struct MergedRanges: Sendable {
    private struct Span: Sendable {
        let lower: [UInt8]
        /// `nil` where it has no end.
        var upper: [UInt8]?

        func reaches(_ key: [UInt8]) -> Bool {
            guard let upper else { return true }
            return !upper.lexicographicallyPrecedes(key)
        }
    }

    private var spans: [Span] = []
    /// The prefixes of the ranges' dictionaries.
    private(set) var prefixes: Set<[UInt8]> = []

    static let none = MergedRanges()

    private init() {}

    init(_ ranges: Set<RecordRange>) {
        if ranges.isEmpty { return }
        for range in ranges { prefixes.insert(range.prefix) }
        spans.reserveCapacity(ranges.count)
        for range in ranges.sorted(by: { $0.lower.lexicographicallyPrecedes($1.lower) }) {
            if let upper = range.upper, !range.lower.lexicographicallyPrecedes(upper) { continue }
            guard let last = spans.last, last.reaches(range.lower) else {
                spans.append(Span(lower: range.lower, upper: range.upper))
                continue
            }
            guard let upper = range.upper else {
                spans[spans.count - 1].upper = nil
                continue
            }
            if !last.reaches(upper) { spans[spans.count - 1].upper = upper }
        }
    }

    var isEmpty: Bool { spans.isEmpty }
    /// How many there are once those that touch are one.
    var count: Int { spans.count }

    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        guard let span = lastSpan(notAbove: key) else { return false }
        return span.upper.map { $0.withUnsafeBytes { compareBytes(key, $0) < 0 } } ?? true
    }

    /// Whether all keys of a range are in it.
    func contains(_ range: RecordRange) -> Bool {
        if let upper = range.upper, !range.lower.lexicographicallyPrecedes(upper) { return true }
        guard let span = range.lower.withUnsafeBytes({ lastSpan(notAbove: $0) }) else {
            return false
        }
        return range.upper.map { span.reaches($0) } ?? (span.upper == nil)
    }

    /// The last span that does not begin behind a key.
    private func lastSpan(notAbove key: UnsafeRawBufferPointer) -> Span? {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            let isAbove = spans[middle].lower.withUnsafeBytes { compareBytes($0, key) > 0 }
            if isAbove { high = middle } else { low = middle + 1 }
        }
        return low > 0 ? spans[low - 1] : nil
    }
}
