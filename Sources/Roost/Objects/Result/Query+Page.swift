import Foundation
import RoostEngine
import RoostIO

/// Where a page ended: what ``Query/page(after:limit:)`` goes on from. It stays right while others write:
/// what comes next is what is after it in the order then.
///
/// It may leave the process, as JSON for instance; what a stranger made of it is refused.
public struct PageCursor: Codable, Sendable, Hashable {
    /// What the order is made of, so that another query's is refused.
    fileprivate let order: String
    fileprivate let place: Data
    /// How many objects a query with a limit has still to give; `nil` for one without.
    fileprivate let remainingCount: Int?

    fileprivate static let sizeLimitBytes = 4 << 20
}

/// Some of a query's objects, and where the next begin.
public struct Page<Item: Sendable>: Sendable {
    /// The objects, in the query's order.
    public let items: [Item]
    /// `nil` where there were no more.
    public let next: PageCursor?
}

extension Query {
    /// The next objects after a cursor, at most `limit`; from the first where it is `nil`. All pages together
    /// have as many objects as the query's own limit allows.
    ///
    /// Without an order, and in an order that an index has, a page costs what is in it. In another order each
    /// page sorts what is after the cursor: ``objects`` does that once.
    ///
    /// - Parameters:
    ///   - cursor: The `next` of the page before; `nil` for the first page.
    ///   - limit: At least 1; less is a programmer error, which traps.
    /// - Throws: `.conflict` where the cursor is not of this query's order and limit; as `fetch()`.
    public func page(after cursor: PageCursor?, limit: Int) throws -> Page<Item> {
        try atOneMoment { try page(after: cursor, limit: limit, &$0) }
    }

    /// What is after a cursor.
    func behind(_ cursor: PageCursor) throws -> Query {
        guard cursor.order == orderName, cursor.place.count <= PageCursor.sizeLimitBytes,
            isPossible(cursor.remainingCount)
        else { throw RoostError(.conflict, "the cursor is of another query") }
        var query = self
        query.limitCount = cursor.remainingCount
        query.cursor = Array(cursor.place)
        query.offsetCount = 0
        return query
    }

    /// A page before gave an object at least, and there is no cursor once nothing remains.
    private func isPossible(_ remainingCount: Int?) -> Bool {
        guard let limitCount, let remainingCount else { return limitCount == remainingCount }
        return remainingCount > 0 && remainingCount < limitCount
    }

    func page<Source: ObjectSource & ~Copyable>(
        after cursor: PageCursor?, limit: Int, _ source: inout Source
    ) throws -> Page<Item> {
        precondition(limit > 0, "a page has room for an object")
        var query = try cursor.map { try behind($0) } ?? self
        let remainingCount = query.limitCount
        query.limitCount = Swift.min(remainingCount ?? .max, limit == .max ? limit : limit + 1)
        var found: [(key: [UInt8], item: Item)] = []
        try query.forEach(&source) { found.append(($0, $1)) }
        let items = found.prefix(limit)
        guard found.count > limit, let last = items.last else {
            return Page(items: items.map(\.item), next: nil)
        }
        let place = withUnsafePointer(to: last.item) { sortKey($0, last.key) }
        let next = PageCursor(
            order: orderName, place: Data(place),
            remainingCount: remainingCount.map { $0 - items.count })
        return Page(items: items.map(\.item), next: next)
    }

    private var orderName: String {
        ([repository.dictionary.name] + orders.map { $0.path.name + ($0.isDescending ? "-" : "+") })
            .joined(separator: ",")
    }
}
