/// How a query is answered.
struct QueryPlan<Item: Sendable>: Sendable {
    enum Access: Sendable {
        /// The condition can hold for no object.
        case nothing
        /// Every object with a key in these ranges, which are in order and apart from each other.
        case scan([IndexRegion.Interval])
        /// The objects with these keys, in order, each once.
        case keys([[UInt8]])
        /// The objects that these entries name, each once.
        case entries([IndexRanges<Item>])
        /// The entries of one index in the query's order.
        case ordered(IndexOrder<Item>)

        /// Every object.
        static var everything: Access { .scan(IndexRegion.everything.intervals) }
    }

    /// A way whose matches come in the query's order, which is tried before `access`.
    struct Attempt: Sendable {
        let way: Access
        /// What it may cost; where it is `nil`, some half of what a scan costs.
        let costLimit: Double?
    }

    var access: Access
    /// After a run: what gave its result.
    var followed: Access { attempt?.way ?? access }
    /// Whether the entries, or the keys in the ranges, are just those of the matching objects, so that these need not
    /// be read.
    var isCovering = false
    /// Where the planner counted them: the entries of `access`.
    var entryCount: Int?
    /// Only where there is a limit.
    var attempt: Attempt?
    /// Where the condition says so: the ranges of keys that all objects that can match are in.
    var identifiers: [IndexRegion.Interval]?
    /// Why an index that is declared was not considered.
    var notes: [String] = []
}

extension QueryPlan {
    /// Whether objects may be asked for the condition without being made.
    func asksObjects(isCounting: Bool) -> Bool {
        if isCounting { return !isCovering }
        for way in [access, attempt?.way] { if case .scan = way { return true } }
        return false
    }
}

/// Ranges of one index's entries, in ascending order, apart from each other.
struct IndexRanges<Item: Sendable>: Sendable {
    let active: IndexSet<Item>.Active
    /// Of the entries' keys.
    var ranges: [IndexRegion.Interval]
    /// How many of the index's fields the ranges are made of.
    let fieldCount: Int
    /// Whether the objects come in the order of their keys: all fields of the index have one value.
    let isInKeyOrder: Bool
    /// Whether objects may be read before the last entry is.
    var mayEndEarly: Bool { isInKeyOrder && ranges.count == 1 }
    /// Whether the entries in the ranges are just those of the objects that match the whole condition.
    let isCovering: Bool
    /// Whether an object may have several entries in them.
    var mayRepeat: Bool { active.index.fields[0].path.isEach }
}

/// Entries that come in the order of a query.
struct IndexOrder<Item: Sendable>: Sendable {
    var ranges: IndexRanges<Item>
    /// Whether they are to be read from the last to the first.
    let isReversed: Bool
    /// The fields of the index up to which the query's order goes.
    let fieldCount: Int
    /// Whether entries with the same of these fields are to be put in order yet.
    let needsSort: Bool
    /// How many terms of the query's order the entries leave to be sorted.
    let unmatchedCount: Int
    /// The form of the fields before the order's, which have one value each.
    let fixedForm: [UInt8]
    let fixedCount: Int
}
