/// Where an object stands in an order: the bytes of `Query.sortKey`, which no two objects share.
struct SortKey: Equatable {
    /// The first eight bytes, which mostly tell two keys apart without a look at the others.
    private let head: UInt64
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        head = bytes.withUnsafeBytes { bytes in
            if bytes.count >= 8 {
                return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            }
            var head: UInt64 = 0
            for index in 0..<8 { head = head << 8 | UInt64(index < bytes.count ? bytes[index] : 0) }
            return head
        }
    }

    static func == (left: SortKey, right: SortKey) -> Bool {
        left.head == right.head && left.bytes == right.bytes
    }

    static func < (left: SortKey, right: SortKey) -> Bool {
        left.head == right.head
            ? Roost.bytes(left.bytes, precede: right.bytes) : left.head < right.head
    }
}

/// One of the orders that live results of a repository are in, of whatever type its objects are.
class AnyLiveOrder {
    /// Its place among the repository's orders.
    let number: Int

    fileprivate init(_ number: Int) { self.number = number }

    fileprivate func key(of object: AnyLiveObject) -> SortKey {
        preconditionFailure("an order is of some type of object")
    }
}

final class LiveOrder<Item: Identifiable & Sendable>: AnyLiveOrder where Item.ID: Sendable {
    private let query: Query<Item>

    init(_ number: Int, _ query: Query<Item>) {
        // What the closures of its condition hold is not to stay when its result is closed.
        var query = query
        query.condition = .always(true)
        self.query = query
        super.init(number)
    }

    func isOf(_ other: Query<Item>) -> Bool {
        query.orders.count == other.orders.count
            && zip(query.orders, other.orders).allSatisfy {
                $0.path == $1.path && $0.isDescending == $1.isDescending
            }
    }

    fileprivate override func key(of object: AnyLiveObject) -> SortKey {
        if query.orders.isEmpty { return SortKey(object.key) }
        return object.of(Item.self).withItem { SortKey(query.sortKey($0, object.key)) }
    }
}

/// An object that live results keep, of whatever type it is: decoded once for all of them.
///
/// - `holders` are the results that keep it, or have staged that they will.
/// - `sortKeys` are those of the object as it is now, by the orders' numbers, where one was asked for.
class AnyLiveObject {
    let key: [UInt8]
    /// The number of the batch that changed it last.
    fileprivate(set) final var changedIn: UInt64
    final var holders: [AnyLiveResult] = []
    fileprivate final var sortKeys: [SortKey?] = []
    /// Where it stood, in the comparison of that number.
    private final var marked: (place: Int, number: UInt64) = (0, 0)

    fileprivate init(_ key: [UInt8], changedIn batch: UInt64) {
        self.key = key
        changedIn = batch
    }

    /// As what it is: all objects of a repository's live results are of its type.
    final func of<Item: Identifiable & Sendable>(_ type: Item.Type) -> LiveObject<Item>
    where Item.ID: Sendable {
        unsafeDowncast(self, to: LiveObject<Item>.self)
    }

    final func sortKey(_ order: AnyLiveOrder) -> SortKey {
        if order.number < sortKeys.count, let key = sortKeys[order.number] { return key }
        while sortKeys.count <= order.number { sortKeys.append(nil) }
        let key = order.key(of: self)
        sortKeys[order.number] = key
        return key
    }

    final func mark(_ place: Int, _ number: UInt64) { marked = (place, number) }
    final func place(_ number: UInt64) -> Int? { marked.number == number ? marked.place : nil }

    final func removeHolder(_ result: AnyLiveResult) {
        guard let index = holders.firstIndex(where: { $0 === result }) else { return }
        holders.swapAt(index, holders.count - 1)
        holders.removeLast()
    }
}

final class LiveObject<Item: Identifiable & Sendable>: AnyLiveObject where Item.ID: Sendable {
    private(set) var item: Item

    init(_ key: [UInt8], _ item: Item, changedIn batch: UInt64) {
        self.item = item
        super.init(key, changedIn: batch)
    }

    func change(to item: Item, in batch: UInt64) {
        self.item = item
        changedIn = batch
        sortKeys.removeAll(keepingCapacity: true)
    }

    func withItem<Result>(_ body: (UnsafePointer<Item>) -> Result) -> Result {
        withUnsafePointer(to: item, body)
    }
}

/// An object in a result.
struct LiveElement {
    let key: SortKey
    let object: AnyLiveObject
}
