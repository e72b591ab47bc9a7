/// A set of forms of one field: intervals in ascending order that do not touch.
struct IndexRegion: Sendable, Equatable {
    /// The forms from `lower` on, before `upper`; `nil` where there is no end.
    struct Interval: Sendable, Equatable {
        var lower: [UInt8]
        var upper: [UInt8]?
        /// Whether it is the form of one value, so that the fields after are in order in it.
        var isPoint = false

        var isEmpty: Bool { upper.map { !lower.lexicographicallyPrecedes($0) } ?? false }
    }

    var intervals: [Interval]
    /// Whether the forms that are in it are just those of the values that match.
    var isExact = true

    static let everything = IndexRegion(intervals: [Interval(lower: [], upper: nil)])
    static let nothing = IndexRegion(intervals: [])

    var isEverything: Bool { intervals == [Interval(lower: [], upper: nil)] }

    init(intervals: [Interval], isExact: Bool = true) {
        self.intervals = intervals.filter { !$0.isEmpty }
        self.isExact = isExact
    }

    // MARK: Of a comparison

    /// The one form of `value`, and of nothing else unless it is truncated.
    init(equalTo value: some IndexRepresentable) {
        let form = IndexForm(value)
        // A value that is not equal to itself is equal to none.
        guard value == value else {
            self = .nothing
            return
        }
        self.init(
            intervals: [
                Interval(
                    lower: form.bytes, upper: followerOfPrefix(form.bytes), isPoint: true)
            ],
            isExact: !form.isTruncated)
    }

    init(oneOf values: some Sequence<some IndexRepresentable>) {
        let regions = values.map { IndexRegion(equalTo: $0) }
        let points = regions.flatMap(\.intervals).sorted {
            $0.lower.lexicographicallyPrecedes($1.lower)
        }
        var distinct: [Interval] = []
        distinct.reserveCapacity(points.count)
        for point in points where distinct.last != point { distinct.append(point) }
        self.init(intervals: distinct, isExact: regions.allSatisfy(\.isExact))
    }

    /// What is before `value`, or with `isInclusive` also what is equal to it.
    init<Value: IndexRepresentable>(below value: Value, isInclusive: Bool) {
        let shape = Value.indexShape
        let form = IndexForm(value)
        guard value == value else {
            self = .nothing
            return
        }
        let upper = isInclusive || form.isTruncated ? followerOfPrefix(form.bytes) : form.bytes
        self.init(
            intervals: [Interval(lower: shape.firstOrdered, upper: upper ?? shape.endOfOrdered)],
            isExact: !form.isTruncated)
    }

    /// What is after `value`, or with `isInclusive` also what is equal to it.
    init<Value: IndexRepresentable>(above value: Value, isInclusive: Bool) {
        let form = IndexForm(value)
        guard value == value else {
            self = .nothing
            return
        }
        let lower = isInclusive || form.isTruncated ? form.bytes : followerOfPrefix(form.bytes)
        guard let lower else {
            self = .nothing
            return
        }
        self.init(
            intervals: [Interval(lower: lower, upper: Value.indexShape.endOfOrdered)],
            isExact: !form.isTruncated)
    }

    /// The strings that begin with `prefix`, and some more: an accent may belong to its last letter.
    init(prefix: String) {
        var form = IndexForm(prefix)
        // Without the end.
        form.bytes.removeLast(2)
        self.init(
            intervals: [Interval(lower: form.bytes, upper: followerOfPrefix(form.bytes))],
            isExact: false)
    }

    /// As `self`, of an optional field that is not `nil`.
    var ofPresent: IndexRegion {
        let present = IndexShape.present
        return IndexRegion(
            intervals: intervals.map {
                Interval(
                    lower: [present] + $0.lower,
                    upper: $0.upper.map { [present] + $0 } ?? [present + 1],
                    isPoint: $0.isPoint)
            }, isExact: isExact)
    }

    // MARK: Sets

    /// What is not in it; where it is not exact that may be anything.
    var complement: IndexRegion {
        guard isExact else {
            var region = IndexRegion.everything
            region.isExact = false
            return region
        }
        var gaps: [Interval] = []
        var lower: [UInt8] = []
        for interval in intervals {
            gaps.append(Interval(lower: lower, upper: interval.lower))
            guard let upper = interval.upper else { return IndexRegion(intervals: gaps) }
            lower = upper
        }
        gaps.append(Interval(lower: lower, upper: nil))
        return IndexRegion(intervals: gaps)
    }

    func intersection(_ other: IndexRegion) -> IndexRegion {
        var common: [Interval] = []
        var (left, right) = (intervals[...], other.intervals[...])
        while let first = left.first, let second = right.first {
            let lower =
                second.lower.lexicographicallyPrecedes(first.lower) ? first.lower : second.lower
            let firstEndsFirst = Self.ends(first.upper, before: second.upper)
            common.append(
                Interval(
                    lower: lower, upper: firstEndsFirst ? first.upper : second.upper,
                    isPoint: first.isPoint || second.isPoint))
            if firstEndsFirst { left.removeFirst() } else { right.removeFirst() }
        }
        return IndexRegion(intervals: common, isExact: isExact && other.isExact)
    }

    /// What is in one of `regions`, of which there may be many: put in order once.
    static func union(of regions: [IndexRegion]) -> IndexRegion {
        let all = regions.flatMap(\.intervals).sorted {
            $0.lower.lexicographicallyPrecedes($1.lower)
        }
        var merged: [Interval] = []
        for interval in all {
            guard let last = merged.last else {
                merged.append(interval)
                continue
            }
            guard let end = last.upper else { break }
            if last == interval { continue }
            if !interval.lower.lexicographicallyPrecedes(end) {
                merged.append(interval)
            } else if ends(end, before: interval.upper) {
                merged[merged.count - 1].upper = interval.upper
                merged[merged.count - 1].isPoint = false
            }
        }
        return IndexRegion(intervals: merged, isExact: regions.allSatisfy(\.isExact))
    }

    func isSubset(of other: IndexRegion) -> Bool {
        intervals.allSatisfy { interval in
            other.intervals.contains { whole in
                !interval.lower.lexicographicallyPrecedes(whole.lower)
                    && (whole.upper == nil
                        || interval.upper.map {
                            $0 == whole.upper || Self.ends($0, before: whole.upper)
                        }
                            ?? false)
            }
        }
    }

    private static func ends(_ left: [UInt8]?, before right: [UInt8]?) -> Bool {
        guard let left else { return false }
        return right.map { left.lexicographicallyPrecedes($0) } ?? true
    }
}

extension IndexRegion.Interval {
    /// The same values where the field's form is turned around.
    var inverted: IndexRegion.Interval {
        // The form of one value stays one: what follows it may be shorter, where its last bytes are
        // the highest, and would turn into the begin of many forms.
        if isPoint {
            let form = lower.map { ~$0 }
            return IndexRegion.Interval(
                lower: form, upper: followerOfPrefix(form), isPoint: true)
        }
        var lowest: [UInt8] = []
        if let upper {
            guard let follower = followerOfPrefix(upper.map { ~$0 }) else { return .none }
            lowest = follower
        }
        return IndexRegion.Interval(
            lower: lowest, upper: lower.isEmpty ? nil : followerOfPrefix(lower.map { ~$0 }))
    }

    private static let none = IndexRegion.Interval(lower: [1], upper: [0])
}

/// The first run of bytes after all that begin with `prefix`; `nil` where there is none.
func followerOfPrefix(_ prefix: [UInt8]) -> [UInt8]? {
    var bytes = prefix
    while let last = bytes.popLast() {
        if last < .max { return bytes + [last + 1] }
    }
    return nil
}
