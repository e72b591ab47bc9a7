import Foundation
import RoostCoding
import RoostEngine
import RoostFormat

/// How values of one type become stored bytes and come back.
///
/// The types with a fixed form are told by identity first, whichever way the caller came in.
///
/// What every coded value goes through names no `Value?` of its own: the runtime looks that type up
/// each time, which costs as much as the checksums.
struct ValueCodec<Value: Sendable>: Sendable {
    /// Encodes a value that has no fixed form.
    let encodeOther: @Sendable (Value, ValueCoder) throws -> EncodedValue
    /// Decodes the payload of a coded kind; throws `UnknownKind` where this codec does not do it.
    let decodeOther: @Sendable (ValueKind, UnsafeRawBufferPointer) throws -> Value

    func encode(_ value: Value, coder: ValueCoder) throws -> EncodedValue {
        if let fixed = FixedForm.encode(value) { return fixed }
        do { return try encodeOther(value, coder) } catch let error as RoostError {
            throw error
        } catch {
            throw RoostError(.encodingFailed, "a \(Value.self) could not be encoded", cause: error)
        }
    }

    /// The value that a look-up found; makes it resident where decoding it was dear.
    func decode(
        _ found: borrowing FoundValue, key: String, name: DictionaryName, engine: Engine,
        migrations: MigrationRegistry
    ) throws -> Value? {
        if let resident = found.resident {
            return try value(of: resident, key: key, name: name, engine: engine, migrations)
        }
        let value = try decode(found, key: key, name: name, migrations)
        if found.isWorthKeeping { engine.keep(value, found, key: key, name: name) }
        return value
    }

    @inline(never)
    private func value(
        of resident: Resident, key: String, name: DictionaryName, engine: Engine,
        _ migrations: MigrationRegistry
    ) throws -> Value? {
        if let value = ResidentValue<Value>.value(of: resident) { return value }
        // Resident as another type: the stored bytes decide.
        guard let stored = try engine.find(key, name: name, isResidentAllowed: false) else {
            return nil
        }
        return try decode(stored, key: key, name: name, migrations)
    }

    private func decode(
        _ found: borrowing FoundValue, key: String, name: DictionaryName,
        _ migrations: MigrationRegistry
    ) throws -> Value {
        // What it owns keeps the bytes in place; it must live until they are decoded.
        try found.withBytes {
            try decode(stored: $0, key: key, name: name, migrations: migrations)
        }
    }

    /// The value in `stored`, kind and payload, brought up to date.
    func decode(
        stored: UnsafeRawBufferPointer, key: String, name: DictionaryName,
        migrations: MigrationRegistry
    ) throws -> Value {
        guard let header = ValueHeader(stored), let kind = ValueKind(rawValue: header.kind) else {
            throw RoostError(
                .decodingFailed,
                "\"\(key)\" in \"\(name.name)\" is of a kind that this version does not know")
        }
        let payload = UnsafeRawBufferPointer(rebasing: stored[header.sizeBytes...])
        guard header.version == 1 && migrations.isEmpty else {
            let known = migrations.migrations(of: name)
            return try decode(payload, kind, version: header.version, key: key, name: name, known)
        }
        return try decode(payload, kind, key: key, name: name)
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ kind: ValueKind, key: String, name: DictionaryName
    ) throws -> Value {
        // A type with a fixed form is never stored as a binary one, whose bytes might by chance
        // decode as it.
        if kind.isCoded, kind != .binary || FixedForm.kind(of: Value.self) == nil {
            do { return try decodeOther(kind, payload) } catch is UnknownKind {} catch {
                throw RoostError(
                    .decodingFailed,
                    "\"\(key)\" in \"\(name.name)\" does not decode as \(Value.self); its bytes are unchanged",
                    cause: error)
            }
        } else if FixedForm.kind(of: Value.self) == kind {
            return try decodeFixed(payload, kind, key: key, name: name)
        }
        throw RoostError(
            .typeMismatch,
            "\"\(key)\" in \"\(name.name)\" is stored as \(kind.typeName), not as \(Value.self)")
    }

    @inline(never)
    private func decodeFixed(
        _ payload: UnsafeRawBufferPointer, _ kind: ValueKind, key: String, name: DictionaryName
    ) throws -> Value {
        if let value = FixedForm.decode(payload, as: Value.self) { return value }
        throw RoostError(
            .decodingFailed, "\"\(key)\" in \"\(name.name)\" is not a whole \(kind.typeName)")
    }
}

/// Whether values of a type are references: whoever changes one changes it for all who have it, so each
/// reader gets one of their own. docs/decisions/0247.
@inline(__always)
func isReference<Value>(_ type: Value.Type) -> Bool {
    // The cast takes a hundred and fifty instructions, and each cold read asks. What has another size than a reference,
    // or needs no retain, is none.
    guard MemoryLayout<Value>.size == MemoryLayout<AnyObject>.size, !_isPOD(type) else {
        return false
    }
    return type is AnyObject.Type
}

extension Engine {
    /// Makes a value that was decoded from `found` resident; not a reference, which its reader may change.
    @inline(__always)
    func keep<Value: Sendable>(
        _ value: Value, _ found: borrowing FoundValue, key: String, name: DictionaryName
    ) {
        if isReference(Value.self) { return }
        makeResident(
            ResidentValue(value, until: found.deadline),
            costBytes: found.memorySizeBytes + MemoryLayout<Value>.stride, found: found,
            key: key, name: name)
    }
}

extension FoundValue {
    /// The value, where it is resident or stored in the fixed form of its type; else `nil`.
    func fixedValue<Value: Sendable>(as type: Value.Type) -> Value? {
        if let resident { return ResidentValue<Value>.value(of: resident) }
        guard let kind = FixedForm.kind(of: type), bytes.first == kind.rawValue else { return nil }
        // What it owns keeps the bytes in place; it must live until they are decoded.
        return withExtendedLifetime(self) { found in
            FixedForm.decode(UnsafeRawBufferPointer(rebasing: found.bytes[1...]), as: type)
        }
    }

    /// About what the decoded value takes beside its own stride: coded ones tend to be twice as
    /// large in memory.
    var memorySizeBytes: Int { bytes.count * (isCoded ? 2 : 1) + 64 }

    @inline(__always)
    private var isCoded: Bool {
        guard let first = bytes.first else { return false }
        return ValueKind(rawValue: first & ~ValueHeader.flags)?.isCoded ?? false
    }

    /// Cold values cost a look into snapshots, coded ones a decoding. What stands in the log in
    /// a fixed form costs as little there as it would resident.
    var isWorthKeeping: Bool {
        switch origin {
        case .resident, .view: false
        case .cold: true
        case .log: isCoded
        }
    }
}

/// A decoded value in the cache.
///
/// `@unchecked Sendable`, as what it inherits is; itself it has what never changes.
final class ResidentValue<Value: Sendable>: Resident, @unchecked Sendable {
    private let value: Value

    init(_ value: Value, until deadline: Deadline) {
        self.value = value
        super.init(type: ObjectIdentifier(Value.self), deadline: deadline)
    }

    /// `nil` where `resident` holds a value of another type.
    static func value(of resident: Resident) -> Value? {
        guard resident.type == ObjectIdentifier(Value.self) else { return nil }
        // Every resident is one of these, so the type says the class; a checked cast would look up
        // the generic class each time.
        return unsafeDowncast(resident, to: ResidentValue<Value>.self).value
    }
}

extension ValueCodec where Value: BinaryCodable {
    static func binary() -> ValueCodec {
        ValueCodec(
            encodeOther: { value, _ in
                EncodedValue(
                    kind: ValueKind.binary.rawValue,
                    payload: .bytes(try BinaryWriter.encode(value)))
            },
            decodeOther: { kind, payload in
                if kind == .binary { return try BinaryReader.decode(Value.self, from: payload) }
                // Stored when the type was only `Codable`; it may still be that too.
                guard let type = Value.self as? any Decodable.Type else { throw UnknownKind() }
                // The type is that of `Value`.
                return try decodeCodable(type, kind, payload) as! Value
            })
    }
}

extension ValueCodec where Value: Codable {
    static func codable() -> ValueCodec {
        ValueCodec(
            encodeOther: { value, coder in
                if let binary = value as? any BinaryCodable {
                    return EncodedValue(
                        kind: ValueKind.binary.rawValue,
                        payload: .bytes(try BinaryWriter.encode(binary)))
                }
                return EncodedValue(
                    kind: coder.kind.rawValue, payload: .bytes(try encodeCodable(value, coder)))
            },
            decodeOther: { kind, payload in
                if kind == .binary {
                    guard let type = Value.self as? any BinaryCodable.Type else {
                        throw UnknownKind()
                    }
                    // The type is that of `Value`.
                    return try BinaryReader.decode(type, from: payload) as! Value
                }
                return try decodeCodable(Value.self, kind, payload)
            })
    }
}
