import RoostFormat

/// What a run makes of the objects that match: the objects themselves, or a value of each.
struct MatchForm<Item: Identifiable & Sendable, Made> where Item.ID: Sendable {
    typealias Take = (_ key: [UInt8], _ made: Made) throws -> Bool
    typealias Offer =
        (
            _ stored: UnsafeRawBufferPointer, _ key: [UInt8], _ isMatch: Bool, _ isPlaced: Bool,
            _ take: Take
        ) throws -> Bool

    private let makes: Offer
    /// Where the object of which something was made stands in the query's order; only of what a `placed` form made, and only
    /// until it makes something of the next.
    let place: (_ made: Made, _ key: [UInt8]) -> [UInt8]
    private var isPlaced = false

    init(_ makes: @escaping Offer, place: @escaping (_ made: Made, _ key: [UInt8]) -> [UInt8]) {
        self.makes = makes
        self.place = place
    }

    /// The form that makes it with its place in the order.
    var placed: MatchForm {
        var form = self
        form.isPlaced = true
        return form
    }

    /// Calls `take` with what is made of an object where that matches, and gives what it says; `true` where the object does
    /// not match, and where it does not decode and such objects are passed by.
    ///
    /// - Parameter isMatch: Whether it is known to match.
    func offer(
        _ stored: UnsafeRawBufferPointer, _ key: [UInt8], isMatch: Bool, _ take: Take
    ) throws -> Bool {
        try makes(stored, key, isMatch, isPlaced, take)
    }
}

extension Query {
    /// The matching objects themselves.
    func objectForm(in name: DictionaryName) -> MatchForm<Item, Item> {
        MatchForm { stored, key, isMatch, _, take in
            try offer(stored, key, isMatch: isMatch, in: name, take)
        } place: { item, key in
            withUnsafePointer(to: item) { sortKey($0, key) }
        }
    }

    /// A value of each match. Where the stored bytes say whether an object matches, and the value, no object is made.
    ///
    /// The place in the order is handed on beside the value: a tuple of both would be of a type that the runtime looks up for
    /// each object.
    func form<Value>(
        of projection: Projection<Item, Value>, in name: DictionaryName
    ) -> MatchForm<Item, Value> {
        let stored = StoredProjection(projection, self)
        let last = LastPlace()
        return MatchForm { bytes, key, isMatch, isPlaced, take in
            var isMatch = isMatch
            if let stored {
                if !isMatch, let answer = stored.condition.answer(bytes) {
                    guard answer else { return true }
                    isMatch = true
                }
                if isMatch {
                    let value: Value
                    do {
                        value = try stored.value(bytes)
                        if isPlaced { last.place = try stored.place(bytes, key) }
                    } catch {
                        // The object says what is wrong with it, and where it is in another form what it has.
                        return try offer(
                            bytes, key, isMatch: true, of: projection, in: name,
                            isPlaced ? last : nil, take)
                    }
                    return try take(key, value)
                }
            }
            return try offer(
                bytes, key, isMatch: isMatch, of: projection, in: name, isPlaced ? last : nil, take)
        } place: { _, _ in
            last.place
        }
    }

    /// The value as the object has it.
    private func offer<Value>(
        _ stored: UnsafeRawBufferPointer, _ key: [UInt8], isMatch: Bool,
        of projection: Projection<Item, Value>, in name: DictionaryName, _ last: LastPlace?,
        _ take: MatchForm<Item, Value>.Take
    ) throws -> Bool {
        try offer(stored, key, isMatch: isMatch, in: name) { key, item in
            try withUnsafePointer(to: item) { object in
                if let last { last.place = sortKey(object, key) }
                return try take(key, projection.value(object))
            }
        }
    }
}

/// The place of the object of which a value was made last.
private final class LastPlace {
    var place: [UInt8] = []
}
