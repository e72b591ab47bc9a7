/// A type that says where each of its properties stands in its stored bytes, so that a query reads those
/// that it asks of, and makes the object only where it matches.
///
/// `@BinaryCodable` writes it for structs. By hand it says of each property what `init(from:)` does:
///
/// ```swift
/// extension Draft: StoredFields {
///     static var storedFields: [StoredField<Draft>] { [
///         StoredField(\.title) { try $0.field(1) },
///         StoredField(\.tags) { try $0.field(2, default: []) },
///     ] }
/// }
/// ```
///
/// A `Codable` type whose `encode(to:)` and `init(from:)` are the compiler's names its coding keys, in its
/// own file, as these are private; methods of your own may do something else than the keys say.
///
/// ```swift
/// extension Post: StoredFields {
///     static var storedFields: [StoredField<Post>] { [
///         StoredField(\.title, CodingKeys.title), StoredField(\.due, CodingKeys.due),
///     ] }
/// }
/// ```
///
/// A property that is not listed is read with the whole object, and a field of one that is listed with that. What is
/// listed wrongly makes wrong answers.
public protocol StoredFields {
    /// The properties that can be read without the others; their order says nothing.
    static var storedFields: [StoredField<Self>] { get }
}

/// How one property of a type is read from its stored bytes.
public struct StoredField<Root>: Sendable {
    /// Immutable, and only compared: so it may be shared.
    package nonisolated(unsafe) let path: AnyKeyPath
    /// A `StoredReader` of the property's type.
    package let reader: any Sendable

    /// A property of a ``BinaryCodable`` type: `read` is what its `init(from:)` reads.
    public init<Value>(
        _ path: KeyPath<Root, Value>,
        _ read: @escaping @Sendable (inout BinaryReader) throws -> Value
    ) {
        self.path = path
        reader = StoredReader<Value>(binary: read, coded: nil)
    }

    /// A property of a `Codable` type, under its key.
    public init<Value: Decodable & SendableMetatype>(
        _ path: KeyPath<Root, Value>, _ key: some CodingKey & Sendable
    ) {
        self.path = path
        reader = StoredReader<Value>(binary: nil, codedName: key.stringValue) { try $0.value(key) }
    }

    /// A property of a `Codable` type that may be `nil`, under its key.
    public init<Value: Decodable & SendableMetatype>(
        _ path: KeyPath<Root, Value?>, _ key: some CodingKey & Sendable
    ) {
        self.path = path
        reader = StoredReader<Value?>(binary: nil, codedName: key.stringValue) {
            try $0.valueIfPresent(key)
        }
    }
}

extension StoredField {
    /// What reads a part of the property, which is stored at an offset in the whole object; `nil` where it is none of it.
    package func part<Part>(at offset: Int, as type: Part.Type) -> StoredReader<Part>? {
        (reader as? any PartlyRead)?.part(at: offset, ofPropertyAt: path, in: Root.self, as: type)
    }
}

private protocol PartlyRead {
    func part<Root, Part>(
        at offset: Int, ofPropertyAt path: AnyKeyPath, in root: Root.Type, as type: Part.Type
    ) -> StoredReader<Part>?
}

extension StoredReader: PartlyRead {
    fileprivate func part<Root, Part>(
        at offset: Int, ofPropertyAt path: AnyKeyPath, in root: Root.Type, as type: Part.Type
    ) -> StoredReader<Part>? {
        guard let path = path as? KeyPath<Root, Value>,
            let start = MemoryLayout<Root>.offset(of: path), start <= offset,
            offset + MemoryLayout<Part>.size <= start + MemoryLayout<Value>.size
        else { return nil }
        return map { value in
            withUnsafePointer(to: value) { value in
                // Two stored properties are apart from each other, or one is in the other: so there is one of this type.
                UnsafeRawPointer(value).advanced(by: offset - start)
                    .assumingMemoryBound(to: Part.self).pointee
            }
        }
    }
}

/// Reads one value from the fields of either form.
package struct StoredReader<Value>: Sendable {
    package private(set) var binary: (@Sendable (inout BinaryReader) throws -> Value)?
    package private(set) var coded: (@Sendable (inout CodedFields) throws -> Value)?
    /// The name of the property that `coded` reads.
    let codedName: String?

    package init(
        binary: (@Sendable (inout BinaryReader) throws -> Value)?, codedName: String? = nil,
        coded: (@Sendable (inout CodedFields) throws -> Value)?
    ) {
        self.binary = binary
        self.codedName = codedName
        self.coded = coded
    }

    /// Reads what `transform` makes of the value.
    package func map<Other>(
        _ transform: @escaping @Sendable (Value) -> Other
    ) -> StoredReader<Other> {
        var mapped = StoredReader<Other>(binary: nil, codedName: codedName, coded: nil)
        if let binary {
            mapped.binary = { (fields: inout BinaryReader) in transform(try binary(&fields)) }
        }
        if let coded {
            mapped.coded = { (fields: inout CodedFields) in transform(try coded(&fields)) }
        }
        return mapped
    }

    /// Reads what `join` makes of the value and another one; by neither form where one of the two has it not.
    package func joined<Other, Joined>(
        with other: StoredReader<Other>,
        _ join: @escaping @Sendable (Value, Other) -> Joined
    ) -> StoredReader<Joined> {
        // Of two properties there is no one name.
        var joined = StoredReader<Joined>(binary: nil, coded: nil)
        if let one = binary, let other = other.binary {
            joined.binary = { (fields: inout BinaryReader) in
                join(try one(&fields), try other(&fields))
            }
        }
        if let one = coded, let other = other.coded {
            joined.coded = { (fields: inout CodedFields) in
                join(try one(&fields), try other(&fields))
            }
        }
        return joined
    }
}

extension BinaryReader {
    /// Calls `body` with the fields of a stored value, of which it may read some.
    package static func withFields<Result>(
        of owner: Any.Type, in bytes: UnsafeRawBufferPointer,
        _ body: (inout BinaryReader) throws -> Result
    ) throws -> Result {
        guard let start = bytes.baseAddress else {
            return try withUnsafeBytes(of: UInt8(0)) {
                try withFields(of: owner, in: UnsafeRawBufferPointer(rebasing: $0[..<0]), body)
            }
        }
        var reader = BinaryReader(from: start, to: start + bytes.count, depth: 0, owner: owner)
        // Few fields are asked for: looking at all of them first would take longer than any search.
        reader.order = .mixed
        return try body(&reader)
    }
}
