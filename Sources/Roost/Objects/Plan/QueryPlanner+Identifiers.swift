/// Conditions on the identifier, which say which objects can match.
extension QueryPlanner {
    /// The keys of the only objects that can match, in order, each once; `nil` where the condition does not say it.
    var identifierKeys: [[UInt8]]? {
        identifier?.keys { query.repository.key(of: $0) }.map { inOrder($0, mayRepeat: true) }
    }

    /// The ranges of keys that all objects that can match are in; `nil` where the condition leaves none out.
    var identifierRanges: [IndexRegion.Interval]? { identifier?.ranges }

    /// Whether the objects that match are those whose keys are in `identifierRanges`, or all: none need be looked at. Where
    /// objects that do not decode are passed by, they are.
    var isSaidByKeys: Bool {
        guard query.undecodable == nil else { return false }
        if case .always(true) = query.condition { return true }
        return identifier?.isAll ?? false
    }
}
