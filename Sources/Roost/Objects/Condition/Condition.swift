/// What a query asks of each object: comparisons of fields, joined by `&&`, `||` and `!`.
public struct Condition<Root>: ConditionConvertible, Sendable, CustomStringConvertible {
    let node: ConditionNode<Root>

    init(_ node: ConditionNode<Root>) { self.node = node }

    /// The condition that a closure makes, to be used in several queries.
    public static func make<Made: ConditionConvertible>(
        _ condition: (Row<Root>) -> Made
    ) -> Condition where Made.Root == Root {
        condition(Row()).condition
    }

    /// Itself.
    public var condition: Condition<Root> { self }
    public var description: String { node.description }

    /// Whether an object matches.
    ///
    /// - Throws: what a `#Predicate` in it throws; else nothing.
    public func matches(_ object: Root) throws -> Bool {
        try withUnsafePointer(to: object) { try node.matches($0) }
    }
}

/// What can stand as a condition: a comparison, and a field that is a `Bool`.
public protocol ConditionConvertible<Root> {
    /// The type of the objects that are asked for.
    associatedtype Root
    /// What it asks of an object.
    var condition: Condition<Root> { get }
}

extension Field: ConditionConvertible where Value == Bool {
    /// The field is `true`.
    public var condition: Condition<Root> { self == true }
}

extension ConditionConvertible {
    /// Both hold. Which is asked first is the planner's choice.
    public static func && <Other: ConditionConvertible>(
        left: Self, right: Other
    ) -> Condition<Root> where Other.Root == Root {
        Condition(.all(left.condition.node, right.condition.node))
    }

    /// One of them holds, or both.
    public static func || <Other: ConditionConvertible>(
        left: Self, right: Other
    ) -> Condition<Root> where Other.Root == Root {
        Condition(.any(left.condition.node, right.condition.node))
    }

    /// The condition does not hold.
    public static prefix func ! (operand: Self) -> Condition<Root> {
        Condition(operand.condition.node.inverted)
    }
}
