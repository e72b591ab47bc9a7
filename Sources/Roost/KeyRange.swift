import RoostFormat

/// A range of keys by the order of their UTF-8 bytes: any of Swift's ranges of `String`.
public protocol KeyRange: Sendable {
    var keyBounds: KeyBounds { get }
}

/// Where a ``KeyRange`` begins and ends.
public struct KeyBounds: Sendable, Hashable {
    /// The first key that may be in it.
    var lower: [UInt8] = []
    /// The first key behind it; `nil` where it has no end.
    var upper: [UInt8]?

    /// The first key behind `key`.
    static func behind(_ key: String) -> [UInt8] { Array(key.utf8) + [0] }
}

extension Range: KeyRange where Bound == String {
    public var keyBounds: KeyBounds {
        KeyBounds(lower: Array(lowerBound.utf8), upper: Array(upperBound.utf8))
    }
}

extension ClosedRange: KeyRange where Bound == String {
    public var keyBounds: KeyBounds {
        KeyBounds(lower: Array(lowerBound.utf8), upper: KeyBounds.behind(upperBound))
    }
}

extension PartialRangeFrom: KeyRange where Bound == String {
    public var keyBounds: KeyBounds { KeyBounds(lower: Array(lowerBound.utf8)) }
}

extension PartialRangeUpTo: KeyRange where Bound == String {
    public var keyBounds: KeyBounds { KeyBounds(upper: Array(upperBound.utf8)) }
}

extension PartialRangeThrough: KeyRange where Bound == String {
    public var keyBounds: KeyBounds { KeyBounds(upper: KeyBounds.behind(upperBound)) }
}

extension WorkspaceDictionary {
    func range(prefix: String) throws -> RecordRange {
        RecordRange(try checkedName(), keyPrefix: Array(prefix.utf8))
    }

    func range(_ range: some KeyRange) throws -> RecordRange {
        let bounds = range.keyBounds
        return RecordRange(try checkedName(), lower: bounds.lower, upper: bounds.upper)
    }
}
