/// The values of several fields that objects are grouped by together.
///
/// ```swift
/// let counts = try posts.grouped(by: \.color, \.author.name).counts()
/// for (key, count) in counts.sorted(by: { $0.key < $1.key }) {
///     let (color, author) = key.values
///     print(color, author, count)
/// }
/// let mine = counts[GroupKey(.red, "Ada")] ?? 0
/// ```
public struct GroupKey<each Value: Hashable>: Hashable {
    /// The values, in the order of the fields.
    public let values: (repeat each Value)

    /// The key of the objects that have these values, in the order of the fields: to look a group up.
    public init(_ values: repeat each Value) { self.values = (repeat each values) }

    public static func == (left: GroupKey, right: GroupKey) -> Bool {
        for (left, right) in repeat (each left.values, each right.values) {
            if left != right { return false }
        }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        for value in repeat each values { hasher.combine(value) }
    }
}

extension GroupKey: Sendable where repeat each Value: Sendable {}

extension GroupKey: Comparable where repeat each Value: Comparable {
    /// By the first of the values in which the two differ.
    public static func < (left: GroupKey, right: GroupKey) -> Bool {
        for (left, right) in repeat (each left.values, each right.values) {
            if left != right { return left < right }
        }
        return false
    }
}

extension GroupKey: CustomStringConvertible {
    public var description: String {
        var parts: [String] = []
        for value in repeat each values { parts.append("\(value)") }
        return "(\(parts.joined(separator: ", ")))"
    }
}
