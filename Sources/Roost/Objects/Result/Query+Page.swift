import Foundation
import RoostEngine
import RoostIO

/// Where a page ended: what ``Query/page(after:limit:)`` goes on from. It stays right while others write:
/// what comes next is what is after it in the order then.
///
/// It may leave the process, as JSON for instance; what a stranger made of it is refused. So is one of another query's order,
/// but that orders by two computed properties of one type are not told apart, as these have no names that are the same in
/// each launch: give a cursor back to the query that it came from.
public struct PageCursor: Codable, Sendable, Hashable {
    /// What the order is made of, so that another query's is refused.
    private let order: String
    private let place: Data
    /// How many objects a query with a limit has still to give; `nil` for one without.
    package let remainingCount: Int?

    /// Behind the object with a sort key.
    init<Item>(
        _ orders: [OrderTerm<Item>], of dictionary: String, sortKey: [UInt8], remainingCount: Int?
    ) {
        order = Self.name(orders, dictionary)
        place = Data(sortKey)
        self.remainingCount = remainingCount
    }

    /// The sort key of the object that it is behind.
    ///
    /// - Parameter limitCount: the query's own limit.
    /// - Throws: `.conflict` where it is of another dictionary, order or limit.
    func sortKey<Item>(
        _ orders: [OrderTerm<Item>], of dictionary: String, limitCount: Int?
    ) throws -> [UInt8] {
        guard order == Self.name(orders, dictionary), isPossible(limitCount) else {
            throw RoostError(
                .conflict,
                "the cursor is of another dictionary, order or limit: page through \"\(dictionary)\" in the order and with the limit of the page that gave it, or begin anew with nil"
            )
        }
        return Array(place)
    }

    /// A page before gave an object at least, and there is no cursor once nothing remains.
    private func isPossible(_ limitCount: Int?) -> Bool {
        guard let limitCount, let remainingCount else { return limitCount == remainingCount }
        return remainingCount > 0 && remainingCount < limitCount
    }

    private static func name<Item>(_ orders: [OrderTerm<Item>], _ dictionary: String) -> String {
        ([dictionary] + orders.map { name($0.path) + ($0.isDescending ? "-" : "+") })
            .joined(separator: ",")
    }

    /// What is computed has no name of its own that is the same in each launch: its type tells some apart.
    private static func name(_ path: FieldPath) -> String {
        let name = path.name
        guard name.contains(FieldPath.computedName) else { return name }
        return "\(name):\(type(of: path.keyPath).valueType)"
    }
}

/// Some of a query's objects, and where the next begin.
public struct Page<Item: Sendable>: Sendable {
    /// The objects, in the query's order.
    public let items: [Item]
    /// `nil` where there were no more.
    public let next: PageCursor?

    package init(items: [Item], next: PageCursor?) {
        self.items = items
        self.next = next
    }
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
    ///   - limit: How many; less than 1, as a request may bring it, is taken as 1, so that pages come to an end.
    /// - Throws: `.conflict` where the cursor is not of this query's order and limit; as `fetch()`.
    public func page(after cursor: PageCursor?, limit: Int) throws -> Page<Item> {
        try atOneMoment { try page(after: cursor, limit: limit, &$0) }
    }

    /// What is after a cursor.
    func behind(_ cursor: PageCursor) throws -> Query {
        var query = self
        query.cursor = try cursor.sortKey(
            orders, of: repository.dictionary.name, limitCount: limitCount)
        query.limitCount = cursor.remainingCount
        query.offsetCount = 0
        return query
    }

    func page<Source: ObjectSource & ~Copyable>(
        after cursor: PageCursor?, limit: Int, _ source: inout Source
    ) throws -> Page<Item> {
        let (found, next) = try keyedPage(after: cursor, limit: limit, &source)
        return Page(items: found.map(\.item), next: next)
    }

    /// A page's objects with their keys.
    func keyedPage<Source: ObjectSource & ~Copyable>(
        after cursor: PageCursor?, limit: Int, _ source: inout Source
    ) throws -> (found: [(key: [UInt8], item: Item)], next: PageCursor?) {
        let limit = Swift.max(limit, 1)
        var query = try cursor.map { try behind($0) } ?? self
        let remainingCount = query.limitCount
        query.limitCount = Swift.min(remainingCount ?? .max, limit == .max ? limit : limit + 1)
        var found: [(key: [UInt8], item: Item)] = []
        try query.forEach(&source) { found.append(($0, $1)) }
        guard found.count > limit else { return (found, nil) }
        found.removeLast(found.count - limit)
        let last = found[limit - 1]
        let place = withUnsafePointer(to: last.item) { sortKey($0, last.key) }
        let next = PageCursor(
            orders, of: repository.dictionary.name, sortKey: place,
            remainingCount: remainingCount.map { $0 - limit })
        return (found, next)
    }
}
