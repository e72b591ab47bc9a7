/// The first byte of every stored value: what the rest is.
///
/// On disk: never renumber; zero is never valid.
package enum ValueKind: UInt8, Sendable, CaseIterable {
    case bool = 1
    case int = 2
    case int8 = 3
    case int16 = 4
    case int32 = 5
    case int64 = 6
    case uint = 7
    case uint8 = 8
    case uint16 = 9
    case uint32 = 10
    case uint64 = 11
    case float = 12
    case double = 13
    case string = 14
    case data = 15
    case bytes = 16
    case int128 = 17
    case uint128 = 18
    /// `BinaryCodable`'s own form.
    case binary = 32
    case json = 33
    case propertyList = 34
    case roost = 35

    /// How messages call it.
    package var typeName: String {
        switch self {
        case .bool: "Bool"
        case .int: "Int"
        case .int8: "Int8"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int64"
        case .uint: "UInt"
        case .uint8: "UInt8"
        case .uint16: "UInt16"
        case .uint32: "UInt32"
        case .uint64: "UInt64"
        case .float: "Float"
        case .double: "Double"
        case .string: "String"
        case .data: "Data"
        case .bytes: "[UInt8]"
        case .int128: "Int128"
        case .uint128: "UInt128"
        case .binary: "a BinaryCodable type"
        case .json: "a Codable type (as JSON)"
        case .propertyList: "a Codable type (as a property list)"
        case .roost: "a Codable type"
        }
    }

    /// Whether decoding costs enough for the decoded value to be worth keeping.
    package var isCoded: Bool { rawValue >= ValueKind.binary.rawValue }
}
