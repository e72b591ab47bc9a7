import RoostCoding
import RoostEngine
import RoostFormat

/// The versions that one dictionary's values went through, and how each becomes the next.
///
/// - `steps` is not empty; the first takes values of `oldest` to the version after it, and each
///   further one those of the version that the one before it makes.
struct Migrations: Sendable {
    struct Step: Sendable {
        let version: UInt32
        let from: MigratedType
        let to: MigratedType
        let convert: @Sendable (any Sendable) throws -> any Sendable
    }

    private(set) var steps: [Step]

    init(_ first: Step) { steps = [first] }

    var oldest: UInt32 { steps[0].version - 1 }
    var newest: UInt32 { oldest + UInt32(steps.count) }

    /// Adds the next step, or puts one in the place of an equal one.
    mutating func add(_ step: Step) {
        if step.version >= steps[0].version, step.version <= newest {
            let index = Int(step.version - steps[0].version)
            precondition(
                steps[index].from.id == step.from.id && steps[index].to.id == step.to.id,
                "version \(step.version) is registered with other types")
            steps[index] = step
            return
        }
        precondition(
            step.version == newest + 1, "version \(step.version) does not follow version \(newest)")
        precondition(
            step.from.id == steps[steps.count - 1].to.id,
            "version \(step.version) does not begin with the type of version \(newest)")
        steps.append(step)
    }

    /// The newest version whose values are of this type; `nil` where there is none.
    func version(of type: ObjectIdentifier) -> UInt32? {
        if let step = steps.last(where: { $0.to.id == type }) { return step.version }
        return steps[0].from.id == type ? oldest : nil
    }

    /// Decodes a value of an older version and brings it to `version`; `nil` where its kind is not
    /// the old type's.
    func value(
        _ kind: ValueKind, _ payload: UnsafeRawBufferPointer, from old: UInt32, to version: UInt32
    ) throws -> (any Sendable)? {
        let passed = steps[Int(old - oldest)..<Int(version - oldest)]
        guard var value = try passed.first?.from.decode(kind, payload) else { return nil }
        for step in passed { value = try step.convert(value) }
        return value
    }
}

/// A type that values of some version have.
struct MigratedType: Sendable {
    let id: ObjectIdentifier
    /// `nil` where the kind is another type's.
    let decode: @Sendable (ValueKind, UnsafeRawBufferPointer) throws -> (any Sendable)?
    let encode: @Sendable (any Sendable, ValueCoder) throws -> EncodedValue

    init<Value: Sendable>(_ type: Value.Type) {
        precondition(
            FixedForm.kind(of: type) != nil || type is any BinaryCodable.Type
                || type is any Codable.Type,
            "\(type) is not a type that a dictionary takes")
        let codec = ValueCodec<Value>.dynamic()
        id = ObjectIdentifier(type)
        decode = { kind, payload in
            if kind.isCoded {
                do { return try codec.decodeOther(kind, payload) } catch is UnknownKind {
                    return nil
                }
            }
            return FixedForm.kind(of: Value.self) == kind
                ? FixedForm.decode(payload, as: Value.self) : nil
        }
        // What a step makes is of its type.
        encode = { value, coder in try codec.encode(value as! Value, coder: coder) }
    }
}

extension ValueCodec {
    /// Finds out at run time how the type is coded.
    static func dynamic() -> ValueCodec {
        ValueCodec(
            encodeOther: { value, coder in
                if let binary = value as? any BinaryCodable {
                    return EncodedValue(
                        kind: ValueKind.binary.rawValue,
                        payload: .bytes(try BinaryWriter.encode(binary)))
                }
                // One of the two, as whoever asked for the codec has checked.
                let codable = value as! any Encodable
                return EncodedValue(
                    kind: coder.kind.rawValue, payload: .bytes(try encodeCodable(codable, coder)))
            },
            decodeOther: { kind, payload in
                if kind == .binary {
                    guard let type = Value.self as? any BinaryCodable.Type else {
                        throw UnknownKind()
                    }
                    // The type is that of `Value`.
                    return try BinaryReader.decode(type, from: payload) as! Value
                }
                guard let type = Value.self as? any Decodable.Type else { throw UnknownKind() }
                return try decodeCodable(type, kind, payload) as! Value
            })
    }
}

extension ValueCodec {
    /// A value of `version`, converted where that is older than the versions of this type.
    func decode(
        _ payload: UnsafeRawBufferPointer, _ kind: ValueKind, version: UInt32, key: String,
        name: DictionaryName, _ migrations: Migrations?
    ) throws -> Value {
        let newest = migrations?.version(of: ObjectIdentifier(Value.self))
        let wanted = newest ?? 1
        if version == wanted { return try decode(payload, kind, key: key, name: name) }
        guard let migrations, newest != nil, version < wanted, version >= migrations.oldest else {
            throw RoostError(
                .unsupportedVersion,
                "\"\(key)\" in \"\(name.name)\" is of version \(version), which \(Value.self) of "
                    + "version \(wanted) cannot be read from; its bytes are unchanged")
        }
        let value: (any Sendable)?
        do { value = try migrations.value(kind, payload, from: version, to: wanted) } catch {
            throw RoostError(
                .decodingFailed,
                "\"\(key)\" in \"\(name.name)\" of version \(version) does not become a "
                    + "\(Value.self); its bytes are unchanged", cause: error)
        }
        if let value = value as? Value { return value }
        throw RoostError(
            .typeMismatch,
            "\"\(key)\" in \"\(name.name)\" is stored as \(kind.typeName), from which no "
                + "migration leads to \(Value.self)")
    }
}
