/// A range of keys of one type by the order of their strings' UTF-8 bytes, which is that of integers and of UUIDs: any of Swift's ranges of
/// the type.
///
/// Of a type whose `<` is not the order of its strings it has what is between the strings of its bounds. `String` is such a
/// type: see ``KeyRange``.
public protocol TypedKeyRange<Bound>: Sendable {
    /// What the keys are of.
    associatedtype Bound: KeyRepresentable
    /// Where the range of the keys' strings begins and ends, in bytes.
    var keyBoundsOfStrings: KeyBounds { get }
}

extension Range: TypedKeyRange where Bound: KeyRepresentable {
    public var keyBoundsOfStrings: KeyBounds {
        KeyBounds(lower: Array(lowerBound.key.utf8), upper: Array(upperBound.key.utf8))
    }
}

extension ClosedRange: TypedKeyRange where Bound: KeyRepresentable {
    public var keyBoundsOfStrings: KeyBounds {
        KeyBounds(lower: Array(lowerBound.key.utf8), upper: KeyBounds.behind(upperBound.key))
    }
}

extension PartialRangeFrom: TypedKeyRange where Bound: KeyRepresentable {
    public var keyBoundsOfStrings: KeyBounds { KeyBounds(lower: Array(lowerBound.key.utf8)) }
}

extension PartialRangeUpTo: TypedKeyRange where Bound: KeyRepresentable {
    public var keyBoundsOfStrings: KeyBounds { KeyBounds(upper: Array(upperBound.key.utf8)) }
}

extension PartialRangeThrough: TypedKeyRange where Bound: KeyRepresentable {
    public var keyBoundsOfStrings: KeyBounds {
        KeyBounds(upper: KeyBounds.behind(upperBound.key))
    }
}
