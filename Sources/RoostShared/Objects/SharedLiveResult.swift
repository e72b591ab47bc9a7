import Roost
import RoostFormat

/// An object that matches a query, or what is made of it, and what its place and its time rest on.
struct SharedMatch<Made> {
    /// As its dictionary has it, in bytes.
    let key: [UInt8]
    /// Where it stands in the query's order; ends with the key, so that no two are equal.
    let sortKey: [UInt8]
    let deadline: Deadline
    let made: Made
}

extension SharedMatch: Sendable where Made: Sendable {}

/// All matches of a query, kept as their objects change.
///
/// - `matches` is in the order of the sort keys; `sortKeys` has the one of each, by its object's key.
/// - `firstDeadline` is no later than that of any match.
struct SharedLiveResult<Item: Identifiable & Sendable> where Item.ID: Sendable {
    private let terms: QueryTerms<Item>
    private var matches: ContiguousArray<SharedMatch<Item>>
    private var sortKeys: [[UInt8]: [UInt8]]
    private var firstDeadline: Deadline

    /// - Parameter matches: all of them, in order.
    init(_ terms: QueryTerms<Item>, _ matches: [SharedMatch<Item>]) {
        self.terms = terms
        self.matches = ContiguousArray(matches)
        sortKeys = Dictionary(uniqueKeysWithValues: matches.map { ($0.key, $0.sortKey) })
        firstDeadline = matches.map(\.deadline).min() ?? .never
    }

    /// What the query asks for: its offset and its limit are kept.
    var items: [Item] {
        matches.dropFirst(terms.offsetCount).prefix(terms.limitCount ?? .max).map(\.made)
    }

    /// Takes over what became of the object with a key: its match, or that it matches no more.
    ///
    /// - Returns: whether `items` may be others now.
    mutating func set(_ match: SharedMatch<Item>?, forKey key: [UInt8]) -> Bool {
        var isChanged = false
        if let sortKey = sortKeys.removeValue(forKey: key) {
            let place = place(of: sortKey)
            matches.remove(at: place)
            isChanged = place < terms.wantedCount
        }
        guard let match else { return isChanged }
        let place = place(of: match.sortKey)
        matches.insert(match, at: place)
        sortKeys[key] = match.sortKey
        firstDeadline = min(firstDeadline, match.deadline)
        return isChanged || place < terms.wantedCount
    }

    /// Leaves out what has expired.
    ///
    /// - Returns: as ``set(_:forKey:)``.
    mutating func removeExpired(at milliseconds: UInt64) -> Bool {
        guard firstDeadline != .never, firstDeadline.milliseconds <= milliseconds else {
            return false
        }
        var isChanged = false
        for match in matches
        where match.deadline != .never && match.deadline.milliseconds <= milliseconds {
            isChanged = set(nil, forKey: match.key) || isChanged
        }
        firstDeadline = matches.map(\.deadline).min() ?? .never
        return isChanged
    }

    /// Of the match with a sort key, or where one with it belongs.
    private func place(of sortKey: [UInt8]) -> Int {
        var (lower, upper) = (0, matches.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if matches[middle].sortKey.lexicographicallyPrecedes(sortKey) {
                lower = middle + 1
            } else {
                upper = middle
            }
        }
        return lower
    }
}
