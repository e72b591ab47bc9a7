import RoostFormat

/// A range of keys by the order of their UTF-8 bytes: any of Swift's ranges of `String`.
///
/// Swift orders strings by another order, that of their composed characters. It is the same where all is ASCII; else one
/// that its `<` takes for turned round ends the program when it is made, before this library sees it:
/// `"e\u{301}"..<"f"`, as "é" comes after "f". Where the bounds come from somebody else, use a range with one bound
/// (`keys(in: lower...)`, which compares nothing) up to the key that is enough, a `prefix`, or
/// `page(prefix:after:as:limit:order:)`.
public protocol KeyRange: Sendable {
    /// Where the range begins and ends, in bytes.
    var keyBounds: KeyBounds { get }
}

/// Where a ``KeyRange`` begins and ends.
public struct KeyBounds: Sendable, Hashable {
    /// The first key that may be in it.
    package var lower: [UInt8] = []
    /// The first key after it; `nil` where it has no end.
    package var upper: [UInt8]?

    package init(lower: [UInt8] = [], upper: [UInt8]? = nil) {
        self.lower = lower
        self.upper = upper
    }

    /// Of the keys that begin with the bytes of `prefix`.
    init(prefix: String) {
        lower = Array(prefix.utf8)
        upper = successor(ofPrefix: lower)
    }

    /// What is left of the range behind a key, where it is read in an order.
    package func after(_ key: String?, _ order: ScanOrder) -> KeyBounds {
        guard let key else { return self }
        var rest = self
        switch order {
        case .ascending:
            let next = Self.behind(key)
            if lower.lexicographicallyPrecedes(next) { rest.lower = next }
        case .descending:
            let end = Array(key.utf8)
            if upper.map({ end.lexicographicallyPrecedes($0) }) ?? true { rest.upper = end }
        }
        return rest
    }

    package func contains(_ key: String) -> Bool {
        !key.utf8.lexicographicallyPrecedes(lower)
            && (upper.map { key.utf8.lexicographicallyPrecedes($0) } ?? true)
    }

    /// The key, where no other is in the range.
    var onlyKey: String? {
        upper == lower + [0] ? String(validating: lower, as: UTF8.self) : nil
    }

    /// What exactly the keys in the range begin with; `nil` where that is not what makes them.
    var prefix: String? {
        upper == successor(ofPrefix: lower) ? String(validating: lower, as: UTF8.self) : nil
    }

    /// The first key after `key`.
    static func behind(_ key: String) -> [UInt8] { Array(key.utf8) + [0] }
}

extension KeyBounds: KeyRange {
    /// Itself.
    public var keyBounds: KeyBounds { self }
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
