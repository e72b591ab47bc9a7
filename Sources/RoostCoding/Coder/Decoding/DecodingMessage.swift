import RoostIO

/// A message being read: its tables, and what all its values share.
///
/// - The bytes are valid until `close()`, and are not touched afterwards.
/// - Tables take memory in proportion to the bytes that they were read from.
/// - `hints` has an entry for each depth at which objects have been read; an entry belongs to
///   the container whose serial number it holds, and is worthless to others.
final class DecodingMessage {
    struct KeyName {
        var start: UnsafeRawPointer
        var count: Int
    }

    /// A run of `shapeKeys`.
    struct Shape {
        var first: Int
        var count: Int
    }

    /// Where the value of the property with `index` begins.
    struct Hint {
        var serial = 0
        var index = 0
        var position: UnsafeRawPointer
    }

    struct State {
        var kinds: CoderTypeKinds
        var keys: ContiguousArray<KeyName> = []
        var shapes: ContiguousArray<Shape> = []
        var shapeKeys: ContiguousArray<Int32> = []
        var hints: ContiguousArray<Hint> = []
        var lastSerial = 0
        var isOpen = true
        /// Bytes that were put into another form, kept for as long as the message.
        var converted: [UnsafeMutableRawBufferPointer] = []
    }

    /// Through a pointer, so that no access is checked twice: one task alone uses a message.
    let state: UnsafeMutablePointer<State>
    let userInfo: [CodingUserInfoKey: any Sendable]
    let root: CoderValue

    init(
        _ bytes: UnsafeRawBufferPointer, kinds: consuming CoderTypeKinds,
        userInfo: [CodingUserInfoKey: any Sendable]
    ) throws {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            throw RoostError(.decodingFailed, "there are no bytes to decode")
        }
        var reader = BinaryReader(
            from: start, to: start + bytes.count, depth: 0, owner: RoostCoder.self)
        let version = try reader.readFixed(UInt8.self)
        guard version == CoderLimits.version else {
            throw reader.invalidValue("\(version) is not a known version of the coder's form")
        }
        var tables = State(kinds: kinds)
        try Self.readKeys(&reader, &tables)
        try Self.readShapes(&reader, &tables)
        root = CoderValue(start: reader.cursor, limit: reader.end)
        guard try root.end() == reader.end else {
            throw reader.invalidValue("bytes follow the value")
        }
        state = .allocate(capacity: 1)
        state.initialize(to: tables)
        self.userInfo = userInfo
    }

    deinit {
        for bytes in state.pointee.converted { bytes.deallocate() }
        state.deinitialize(count: 1)
        state.deallocate()
    }

    func decodeRoot<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decode(type, root, key: CoderKey.value, parent: nil)
    }

    /// Ends the use of the bytes, and gives back the kinds for the next message.
    func close() -> CoderTypeKinds {
        state.pointee.isOpen = false
        let kinds = state.pointee.kinds
        state.pointee.kinds = .unused
        return kinds
    }

    private static func readKeys(_ reader: inout BinaryReader, _ state: inout State) throws {
        let count = try reader.takeLength()
        state.keys.reserveCapacity(count)
        for _ in 0..<count {
            let name = try reader.takeBytes()
            guard let start = name.baseAddress else { throw reader.cutShort() }
            state.keys.append(KeyName(start: start, count: name.count))
        }
    }

    private static func readShapes(_ reader: inout BinaryReader, _ state: inout State) throws {
        let count = try reader.takeLength()
        state.shapes.reserveCapacity(count)
        for _ in 0..<count {
            let keyCount = try reader.takeLength()
            state.shapes.append(Shape(first: state.shapeKeys.count, count: keyCount))
            for _ in 0..<keyCount {
                let key = try reader.readVarint()
                guard key < UInt64(state.keys.count) else {
                    throw reader.invalidValue("there is no key number \(key)")
                }
                state.shapeKeys.append(Int32(truncatingIfNeeded: key))
            }
        }
    }
}

/// The keys on the way to a value, for messages to people, and their number.
final class PathNode {
    let parent: PathNode?
    let key: any CodingKey
    let depth: Int

    init(parent: PathNode?, key: any CodingKey) {
        self.parent = parent
        self.key = key
        depth = (parent?.depth ?? 0) + 1
    }

    var keys: [any CodingKey] { (parent?.keys ?? []) + (depth == 1 ? [] : [key]) }
}
