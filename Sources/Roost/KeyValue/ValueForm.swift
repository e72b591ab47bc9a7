import RoostEngine
import RoostFormat

/// How the values of one type are stored, for the calls that a ``KeyValueDictionary`` is made of.
///
/// Whoever uses a dictionary never makes one: the calls that take a type do. The bytes are the same
/// wherever they are kept, in the files of a ``Workspace`` or with another engine.
public struct ValueForm<Value: Sendable>: Sendable {
    let codec: ValueCodec<Value>

    /// As the value's own binary form, or the fixed form of its type.
    package static func binary() -> ValueForm where Value: BinaryCodable {
        ValueForm(codec: .binary())
    }

    /// As the dictionary's coder writes it, or in the fixed form of its type.
    package static func codable() -> ValueForm where Value: Codable { ValueForm(codec: .codable()) }

    /// Kind, header and payload of `value`, as a record holds them.
    ///
    /// - Throws: `.encodingFailed`.
    package func stored(
        _ value: Value, coder: ValueCoder, deadline: Deadline = .never
    ) throws -> [UInt8] {
        let encoded = try codec.encode(value, coder: coder).with(deadline: deadline)
        return [UInt8](unsafeUninitializedCapacity: encoded.count) { buffer, count in
            // A stored value has at least its kind, so there is a base.
            encoded.write(to: buffer.baseAddress!)
            count = encoded.count
        }
    }

    /// The value in `stored`.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`, which name the key and the dictionary.
    package func value(
        ofStored stored: [UInt8], key: String, in name: DictionaryName
    ) throws -> Value {
        try stored.withUnsafeBytes { bytes in
            try codec.decode(stored: bytes, key: key, name: name, migrations: noMigrations)
        }
    }
}

/// Migrations are a workspace's own; what is stored elsewhere has none.
private let noMigrations = MigrationRegistry()
