/// The first objects of an order, or the first after a place in it; at most twice as many are held as are
/// wanted.
struct FirstObjects {
    /// Where an object stands in an order: its members' values, and its key among equal ones.
    struct Place: Equatable {
        var values: [JSONValue]
        var key: String

        init(values: [JSONValue], key: String) {
            self.values = values
            self.key = key
        }

        init(_ object: StoredObject, _ order: [ObjectOrderTerm]) {
            values = order.map { $0.path.value(in: object.tree) ?? .null }
            key = object.key
        }

        func precedes(_ other: Place, _ order: [ObjectOrderTerm]) -> Bool {
            for (index, term) in order.enumerated() {
                let (one, another) = (values[index], other.values[index])
                if one.isSorted(before: another) { return !term.isDescending }
                if another.isSorted(before: one) { return term.isDescending }
            }
            return key.utf8.lexicographicallyPrecedes(other.key.utf8)
        }
    }

    let order: [ObjectOrderTerm]
    let limit: Int
    var passedCount = 0
    private let start: Place?
    private var held: [(object: StoredObject, place: Place)] = []

    init(order: [ObjectOrderTerm], limit: Int, behind start: Place? = nil) {
        self.order = order
        self.limit = limit
        self.start = start
    }

    mutating func add(_ object: StoredObject) {
        let place = Place(object, order)
        if let start, !start.precedes(place, order) { return }
        held.append((object, place))
        // Of a limit near the greatest number nothing is ever dropped.
        guard limit < .max / 4, held.count >= limit * 2 + 256 else { return }
        sort()
        held.removeLast(held.count - limit)
    }

    mutating func sorted() -> [StoredObject] {
        sort()
        return held.prefix(limit).map(\.object)
    }

    private mutating func sort() {
        let order = order
        held.sort { $0.place.precedes($1.place, order) }
    }
}
