import RoostFormat

/// How `Codable` values become bytes. Stored bytes name their coder, so a changed choice still
/// reads what was written before.
///
/// Bool, the integers, Float, Double, String, Data, `[UInt8]` and `BinaryCodable` types have
/// forms of their own and do not go through a coder.
public enum ValueCoder: Sendable, Hashable {
    /// Roost's own binary form: keyed, so that properties may come and go.
    case roost
    /// Foundation's `JSONEncoder`, with sorted keys.
    case json
    /// Foundation's `PropertyListEncoder`, binary.
    case propertyList

    var kind: ValueKind {
        switch self {
        case .roost: .roost
        case .json: .json
        case .propertyList: .propertyList
        }
    }
}
