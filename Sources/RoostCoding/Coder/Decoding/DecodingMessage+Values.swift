import Foundation
import RoostIO

/// Reading any `Decodable` value.
extension DecodingMessage {
    /// Reads a value whose end has been found, inside the one at `parent`.
    @inline(__always)
    func decode<Value: Decodable>(
        _ type: Value.Type, _ value: CoderValue, _ step: @autoclosure () -> Place.Step,
        in parent: Place
    ) throws -> Value {
        let kind = state.pointee.kinds.kind(of: type)
        guard kind != .plain else { return try Value(from: nest(value, step(), in: parent)) }
        return try decodeKnown(type, kind, value) {
            try Value(from: nest(value, step(), in: parent))
        }
    }

    /// Reads a value of a type that has a form of its own, or `other` than in that form.
    func decodeKnown<Value: Decodable>(
        _ type: Value.Type, _ kind: CoderTypeKind, _ value: CoderValue,
        else other: () throws -> Value
    ) throws -> Value {
        // Not by way of an optional, whose type would be looked up each time.
        try withUnsafeTemporaryAllocation(of: type, capacity: 1) { memory in
            let memory = memory.baseAddress.unsafelyUnwrapped
            return try value.read(kind, into: memory) ? memory.move() : try other()
        }
    }
}

extension CoderValue {
    /// Reads a value of the kind of a type, if it was written in that form, into memory for a
    /// value of that type.
    fileprivate func read(_ kind: CoderTypeKind, into memory: UnsafeMutableRawPointer) throws
        -> Bool
    {
        @inline(__always)
        func store<Known>(_ known: Known?) -> Bool {
            guard let known else { return false }
            // The kind was derived from the identity of the type.
            memory.initializeMemory(as: Known.self, to: known)
            return true
        }
        return switch kind {
        case .plain, .hashed: false
        case .bool: store(bool())
        case .int: store(try integer(Int.self))
        case .int8: store(try integer(Int8.self))
        case .int16: store(try integer(Int16.self))
        case .int32: store(try integer(Int32.self))
        case .int64: store(try integer(Int64.self))
        case .int128: store(try integer(Int128.self))
        case .uint: store(try integer(UInt.self))
        case .uint8: store(try integer(UInt8.self))
        case .uint16: store(try integer(UInt16.self))
        case .uint32: store(try integer(UInt32.self))
        case .uint64: store(try integer(UInt64.self))
        case .uint128: store(try integer(UInt128.self))
        case .float: store(try float())
        case .double: store(try double())
        case .string: store(try string())
        case .bytes: store(try bytes(CoderTag.bytes).map { [UInt8]($0) })
        case .data: store(try bytes(CoderTag.bytes).map { Data($0) })
        case .date: store(try date())
        case .uuid: store(try uuid())
        case .url: store(try url())
        case .decimal: store(try decimal())
        case .strings: store(try elements { try $0.string() })
        case .ints: store(try elements { try $0.integer(Int.self) })
        case .doubles: store(try elements { try $0.double() })
        }
    }
}
