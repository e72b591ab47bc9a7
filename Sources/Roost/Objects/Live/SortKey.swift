/// Where an object stands in an order: the bytes of `Query.sortKey`, which no two objects share.
struct SortKey: Equatable {
    /// The first eight bytes, which mostly tell two keys apart without a look at the others.
    private let head: UInt64
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        head = bytes.withUnsafeBytes { bytes in
            var head: UInt64 = 0
            for index in 0..<8 { head = head << 8 | UInt64(index < bytes.count ? bytes[index] : 0) }
            return head
        }
    }

    static func < (left: SortKey, right: SortKey) -> Bool {
        left.head == right.head
            ? Roost.bytes(left.bytes, precede: right.bytes) : left.head < right.head
    }
}

/// One of the orders that live results of a repository are in.
final class LiveOrder<Item: Identifiable & Sendable> where Item.ID: Sendable {
    /// Its place among the repository's orders.
    let number: Int
    private let query: Query<Item>

    init(_ number: Int, _ query: Query<Item>) {
        self.number = number
        self.query = query
    }

    func isOf(_ other: Query<Item>) -> Bool {
        query.orders.count == other.orders.count
            && zip(query.orders, other.orders).allSatisfy {
                $0.path == $1.path && $0.isDescending == $1.isDescending
            }
    }

    fileprivate func key(of object: LiveObject<Item>) -> SortKey {
        if query.orders.isEmpty { return SortKey(object.key) }
        return withUnsafePointer(to: object.item) { SortKey(query.sortKey($0, object.key)) }
    }
}

/// An object that live results keep: decoded once for all of them.
///
/// - `holders` are the results that keep it, or have staged that they will.
/// - `sortKeys` are those of `item`, by the orders' numbers, where one was asked for.
final class LiveObject<Item: Identifiable & Sendable> where Item.ID: Sendable {
    let key: [UInt8]
    private(set) var item: Item
    /// The number of the batch that changed it last.
    private(set) var changedIn: UInt64
    var holders: [LiveResult<Item>] = []
    private var sortKeys: [SortKey?] = []
    /// Where it stood, in the comparison of that number.
    private var marked: (place: Int, number: UInt64) = (0, 0)

    init(_ key: [UInt8], _ item: Item, changedIn batch: UInt64) {
        self.key = key
        self.item = item
        changedIn = batch
    }

    func change(to item: Item, in batch: UInt64) {
        self.item = item
        changedIn = batch
        sortKeys.removeAll(keepingCapacity: true)
    }

    func sortKey(_ order: LiveOrder<Item>) -> SortKey {
        while sortKeys.count <= order.number { sortKeys.append(nil) }
        if let key = sortKeys[order.number] { return key }
        let key = order.key(of: self)
        sortKeys[order.number] = key
        return key
    }

    func mark(_ place: Int, _ number: UInt64) { marked = (place, number) }
    func place(_ number: UInt64) -> Int? { marked.number == number ? marked.place : nil }

    func removeHolder(_ result: LiveResult<Item>) {
        guard let index = holders.firstIndex(where: { $0 === result }) else { return }
        holders.swapAt(index, holders.count - 1)
        holders.removeLast()
    }
}

/// An object in a result.
struct LiveElement<Item: Identifiable & Sendable> where Item.ID: Sendable {
    let key: SortKey
    let object: LiveObject<Item>
}
