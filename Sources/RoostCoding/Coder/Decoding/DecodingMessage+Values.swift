import Foundation
import RoostIO

/// Reading any `Decodable` value.
extension DecodingMessage {
    /// Reads a value whose end has been found. The key is where it stands in `parent`.
    func decode<Value: Decodable>(
        _ type: Value.Type, _ value: CoderValue, key: @autoclosure () -> any CodingKey,
        parent: PathNode?
    ) throws -> Value {
        let kind = state.pointee.kinds.kind(of: type)
        if kind != .plain, let known = try decodeKnown(type, kind, value) { return known }
        let path = try nest(key(), in: parent)
        return try Value(from: ValueDecoder(message: self, start: value.start, path: path))
    }

    func nest(_ key: any CodingKey, in parent: PathNode?) throws -> PathNode {
        let path = PathNode(parent: parent, key: key)
        guard path.depth <= CoderLimits.depth else {
            throw RoostError(
                .decodingFailed, "values are nested deeper than \(CoderLimits.depth) levels")
        }
        return path
    }

    /// Reads a value of a type that has a form of its own, if it was written in that form.
    private func decodeKnown<Value>(
        _ type: Value.Type, _ kind: CoderTypeKind, _ value: CoderValue
    ) throws -> Value? {
        // The kind was derived from the identity of the type, so the value is of that type.
        func cast<Known>(_ known: Known?) -> Value? {
            guard let known else { return nil }
            return withUnsafePointer(to: known) {
                UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee
            }
        }
        switch kind {
        case .plain, .hashed: return nil
        case .bool: return cast(value.bool())
        case .int: return cast(try value.integer(Int.self))
        case .int8: return cast(try value.integer(Int8.self))
        case .int16: return cast(try value.integer(Int16.self))
        case .int32: return cast(try value.integer(Int32.self))
        case .int64: return cast(try value.integer(Int64.self))
        case .int128: return cast(try value.integer(Int128.self))
        case .uint: return cast(try value.integer(UInt.self))
        case .uint8: return cast(try value.integer(UInt8.self))
        case .uint16: return cast(try value.integer(UInt16.self))
        case .uint32: return cast(try value.integer(UInt32.self))
        case .uint64: return cast(try value.integer(UInt64.self))
        case .uint128: return cast(try value.integer(UInt128.self))
        case .float: return cast(try value.float())
        case .double: return cast(try value.double())
        case .string: return cast(try value.string())
        case .bytes: return cast(try value.bytes(CoderTag.bytes).map { [UInt8]($0) })
        case .data: return cast(try value.bytes(CoderTag.bytes).map { Data($0) })
        case .date: return cast(try value.date())
        case .uuid: return cast(try value.uuid())
        case .url: return cast(try value.url())
        case .decimal: return cast(try value.decimal())
        case .strings: return cast(try value.elements { try $0.string() })
        case .ints: return cast(try value.elements { try $0.integer(Int.self) })
        case .doubles: return cast(try value.elements { try $0.double() })
        }
    }
}
