import Synchronization

// An enum whose `<` goes by something else than its raw values: `low, medium, high`, which as texts are in another order.

extension IndexRepresentable
where Self: RawRepresentable & CaseIterable & Comparable, RawValue: IndexRepresentable {
    /// That of the raw value where these are in the order of `<`; else one of the order of the cases, which another order
    /// or a new case makes another.
    public static var indexShape: IndexShape {
        let order = CaseOrder<Self>.known
        return order.name.map { IndexShape(.escaped, $0) } ?? RawValue.indexShape
    }

    /// Appends the form of the raw value, or the case's place in the order of `<`.
    public func encode(into form: inout IndexForm) {
        let order = CaseOrder<Self>.known
        guard order.name != nil else { return rawValue.encode(into: &form) }
        form.append(escaping: order.place(of: self))
    }
}

/// In which order the cases of a type are.
final class CaseOrder<Value: RawRepresentable & CaseIterable & Comparable & Sendable>: Sendable
where Value.RawValue: IndexRepresentable {
    /// How a form of the cases' order is named; `nil` where the forms of the raw values are in that order.
    let name: String?
    /// The cases by `<`; empty where the raw values are in that order.
    private let cases: [Value]

    private init() {
        var cases: [Value] = []
        for value in Value.allCases.sorted() where cases.last != value { cases.append(value) }
        let forms = cases.map { IndexForm($0.rawValue).bytes }
        let isInOrder = zip(forms, forms.dropFirst()).allSatisfy {
            $0.lexicographicallyPrecedes($1)
        }
        guard !isInOrder else {
            (name, self.cases) = (nil, [])
            return
        }
        var hash = NamingHash()
        for form in forms { hash.add(form) }
        // Tools, which do not know the cases, know no form of such a name.
        name = "cases-" + hash.text
        self.cases = cases
    }

    /// Of each type it is found out once, as `<` and `allCases` are code of the program that may take long.
    static var known: CaseOrder {
        let type = ObjectIdentifier(Value.self)
        if let known = knownCaseOrders.withLock({ $0[type] }) as? CaseOrder { return known }
        // Not under the lock: it runs code of the program.
        let order = CaseOrder()
        knownCaseOrders.withLock { $0[type] = order }
        return order
    }

    /// The bytes that compare as the values do. What `allCases` leaves out is told apart by its raw value.
    func place(of value: Value) -> [UInt8] {
        var (low, high) = (0, cases.count)
        while low < high {
            let middle = (low + high) / 2
            if cases[middle] < value { low = middle + 1 } else { high = middle }
        }
        let isCase = low < cases.count && cases[low] == value
        let place = UInt16(truncatingIfNeeded: 2 * low + (isCase ? 1 : 0))
        let bytes = [UInt8(place >> 8), UInt8(truncatingIfNeeded: place)]
        return isCase ? bytes : bytes + IndexForm(value.rawValue).bytes
    }
}

private let knownCaseOrders = Mutex<[ObjectIdentifier: any Sendable]>([:])
