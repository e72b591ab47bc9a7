/// A key for what has none of its own: elements of arrays, superclasses, single values.
struct CoderKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static var value: CoderKey { CoderKey("value") }

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) { self.init(intValue) }
}
