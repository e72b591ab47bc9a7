import Foundation

/// The types that have a form of their own, and need no containers.
enum CoderTypeKind: UInt8 {
    case plain, bool, int, int8, int16, int32, int64, int128
    case uint, uint8, uint16, uint32, uint64, uint128
    case float, double, string, bytes, data, date, uuid, url, decimal
    case strings, ints, doubles
    /// A set or a dictionary: its elements are put in order.
    case hashed

    private static let known: [ObjectIdentifier: CoderTypeKind] = [
        ObjectIdentifier(Bool.self): .bool, ObjectIdentifier(Int.self): .int,
        ObjectIdentifier(Int8.self): .int8, ObjectIdentifier(Int16.self): .int16,
        ObjectIdentifier(Int32.self): .int32, ObjectIdentifier(Int64.self): .int64,
        ObjectIdentifier(Int128.self): .int128, ObjectIdentifier(UInt.self): .uint,
        ObjectIdentifier(UInt8.self): .uint8, ObjectIdentifier(UInt16.self): .uint16,
        ObjectIdentifier(UInt32.self): .uint32, ObjectIdentifier(UInt64.self): .uint64,
        ObjectIdentifier(UInt128.self): .uint128, ObjectIdentifier(Float.self): .float,
        ObjectIdentifier(Double.self): .double, ObjectIdentifier(String.self): .string,
        ObjectIdentifier([UInt8].self): .bytes, ObjectIdentifier(Data.self): .data,
        ObjectIdentifier(Date.self): .date, ObjectIdentifier(UUID.self): .uuid,
        ObjectIdentifier(URL.self): .url, ObjectIdentifier(Decimal.self): .decimal,
        ObjectIdentifier([String].self): .strings, ObjectIdentifier([Int].self): .ints,
        ObjectIdentifier([Double].self): .doubles,
    ]

    init(of type: Any.Type) {
        if let kind = Self.known[ObjectIdentifier(type)] {
            self = kind
        } else {
            self = type is any HashedEncodable.Type ? .hashed : .plain
        }
    }
}

extension ObjectIdentifier {
    /// A place for what belongs to a type, in a table of this many places, a power of two.
    @inline(__always)
    func slot(of count: Int) -> Int {
        let mixed = UInt64(UInt(bitPattern: self)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: mixed >> 40) & (count - 1)
    }
}

/// Remembers the kinds of the types met last: finding one out takes far longer.
struct CoderTypeKinds: Sendable {
    private typealias Entry = (type: ObjectIdentifier, kind: CoderTypeKind)
    private static let count = 128
    private var entries: ContiguousArray<Entry>

    init() {
        let entry: Entry = (ObjectIdentifier(CoderTag.self), .plain)
        entries = ContiguousArray(repeating: entry, count: Self.count)
    }

    mutating func kind(of type: Any.Type) -> CoderTypeKind {
        let identifier = ObjectIdentifier(type)
        let index = identifier.slot(of: Self.count)
        if entries[index].type == identifier { return entries[index].kind }
        let kind = CoderTypeKind(of: type)
        entries[index] = (identifier, kind)
        return kind
    }
}
