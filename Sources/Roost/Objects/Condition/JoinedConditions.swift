// Conditions that are put together while a program runs: of what a request asks for, or a user has chosen.

extension Condition {
    /// All of these hold. Without any, every object matches.
    ///
    /// ```swift
    /// var wanted: [Condition<Post>] = []
    /// if let color { wanted.append(.make { $0.color == color }) }
    /// if let text { wanted.append(.make { $0.title.contains(text, .ignoringCase) }) }
    /// let found = try posts.where(.all(of: wanted)).fetch()
    /// ```
    public static func all(of conditions: some Sequence<Condition>) -> Condition {
        let nodes = conditions.flatMap { condition in
            if case .always(true) = condition.node { return [ConditionNode<Root>]() }
            return condition.node.conjuncts
        }
        return Condition(nodes.count > 1 ? .all(nodes) : nodes.first ?? .always(true))
    }

    /// One of these holds, or more. Without any, no object matches.
    ///
    /// Where an index answers each of them, the objects are found by these.
    public static func any(of conditions: some Sequence<Condition>) -> Condition {
        let nodes = conditions.flatMap { condition in
            if case .always(false) = condition.node { return [ConditionNode<Root>]() }
            return condition.node.disjuncts
        }
        return Condition(nodes.count > 1 ? .any(nodes) : nodes.first ?? .always(false))
    }
}
