/// Reads the elements of an array.
///
/// - `position` is the beginning of the next element, or the end; it moves only when an element
///   has been read.
struct UnkeyedDecoder: UnkeyedDecodingContainer {
    let place: Place
    private let start: UnsafeRawPointer
    private let limit: UnsafeRawPointer
    private var position: UnsafeRawPointer
    private(set) var currentIndex = 0

    init(content: UnsafeRawBufferPointer, place: Place) {
        self.place = place
        start = content.baseAddress ?? place.value.start
        position = start
        limit = start + content.count
    }

    var codingPath: [any CodingKey] { place.codingPath }

    var isAtEnd: Bool { position >= limit }

    /// - Complexity: O(number of elements).
    var count: Int? {
        precondition(place.message.isOpen, "a decoder was used after the end of its call")
        var count = 0
        var position = start
        while position < limit {
            do {
                position = try CoderValue(start: position, limit: limit).end()
            } catch {
                place.message.state.pointee.failure = error
                break
            }
            count += 1
        }
        return count
    }

    /// The next element, and where the one after it begins.
    @inline(__always)
    private func next(
        _ type: Any.Type
    ) throws -> (value: CoderValue, end: UnsafeRawPointer) {
        precondition(place.message.isOpen, "a decoder was used after the end of its call")
        guard position < limit else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: codingPath, debugDescription: "The array has ended."))
        }
        let value = CoderValue(start: position, limit: limit)
        return (value, try value.end())
    }

    @inline(__always)
    private mutating func move(to end: UnsafeRawPointer) {
        position = end
        currentIndex += 1
    }

    @inline(__always)
    private func some<Value>(_ read: Value?, _ value: CoderValue) throws -> Value {
        guard let read else {
            throw place.wrongValue(value, Value.self, at: CoderKey(currentIndex))
        }
        return read
    }

    mutating func decodeNil() throws -> Bool {
        let next = try next(Never.self)
        guard next.value.tag == CoderTag.null else { return false }
        move(to: next.end)
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let next = try next(type)
        let value = try place.message.decode(
            type, next.value, .element(currentIndex), in: place)
        move(to: next.end)
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nested { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nested { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try nested { $0 } }

    private mutating func nested<Result>(_ body: (ValueDecoder) throws -> Result) throws -> Result {
        let next = try next(Result.self)
        let nested = try place.message.nest(next.value, .element(currentIndex), in: place)
        let result = try body(nested)
        move(to: next.end)
        return result
    }
}

/// The standard types.
extension UnkeyedDecoder {
    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let next = try next(type)
        let value = try some(next.value.bool(), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let next = try next(type)
        let value = try some(try next.value.string(), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let next = try next(type)
        let value = try some(try next.value.double(), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let next = try next(type)
        let value = try some(try next.value.float(), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        let next = try next(type)
        let value = try some(try next.value.integer(Int.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        let next = try next(type)
        let value = try some(try next.value.integer(Int8.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        let next = try next(type)
        let value = try some(try next.value.integer(Int16.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        let next = try next(type)
        let value = try some(try next.value.integer(Int32.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        let next = try next(type)
        let value = try some(try next.value.integer(Int64.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        let next = try next(type)
        let value = try some(try next.value.integer(Int128.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        let next = try next(type)
        let value = try some(try next.value.integer(UInt.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        let next = try next(type)
        let value = try some(try next.value.integer(UInt8.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        let next = try next(type)
        let value = try some(try next.value.integer(UInt16.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        let next = try next(type)
        let value = try some(try next.value.integer(UInt32.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        let next = try next(type)
        let value = try some(try next.value.integer(UInt64.self), next.value)
        move(to: next.end)
        return value
    }

    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        let next = try next(type)
        let value = try some(try next.value.integer(UInt128.self), next.value)
        move(to: next.end)
        return value
    }
}
