import Foundation

// Foundation's predicates, for code that has them already. No index can use one, and each object that
// the rest of the condition leaves is read whole for it: a comparison of a field costs a tenth.

extension Condition {
    /// What a `#Predicate` asks of an object.
    public init(_ predicate: Predicate<Root>) {
        self.init(
            .term(
                ConditionTerm(nil, nil, { "a predicate" }, nil, isComparison: false) {
                    try predicate.evaluate($0.pointee)
                }))
    }
}

extension Query {
    /// The objects of these for which a `#Predicate` holds too. It is asked of each object that the
    /// rest of the condition leaves; what it throws the query throws.
    public func `where`(_ predicate: Predicate<Item>) -> Query {
        self.where(Condition(predicate))
    }
}

extension Repository {
    /// The objects for which a `#Predicate` holds; as ``Query/where(_:)-(Predicate<Item>)``.
    public func `where`(_ predicate: Predicate<Item>) -> Query<Item> { all.where(predicate) }
}
