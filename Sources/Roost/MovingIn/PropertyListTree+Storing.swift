import Foundation
import RoostCoding
import RoostFormat
import RoostIO

// Each value is stored as the Swift type that reads it: `Int`, `Double`, `Date` and so on; arrays and
// dictionaries as `Codable` values in property list form, which keeps dates and data in them.

extension PropertyListTree {
    package func set(
        _ key: String, in dictionary: WorkspaceDictionary, _ batch: inout WriteBatch
    ) {
        switch self {
        case .bool(let value): batch.set(value, forKey: key, in: dictionary)
        case .int(let value): batch.set(Int(value), forKey: key, in: dictionary)
        case .uint(let value): batch.set(value, forKey: key, in: dictionary)
        case .float(let value): batch.set(value, forKey: key, in: dictionary)
        case .double(let value): batch.set(value, forKey: key, in: dictionary)
        case .string(let value): batch.set(value, forKey: key, in: dictionary)
        case .data(let value): batch.set(value, forKey: key, in: dictionary)
        case .date(let value): batch.set(value, forKey: key, in: dictionary)
        case .array, .dictionary: batch.set(self, forKey: key, in: dictionary.asPropertyLists)
        }
    }

    func set(
        _ key: String, in dictionary: WorkspaceDictionary, _ transaction: inout Transaction
    ) throws {
        switch self {
        case .bool(let value): try transaction.set(value, forKey: key, in: dictionary)
        case .int(let value): try transaction.set(Int(value), forKey: key, in: dictionary)
        case .uint(let value): try transaction.set(value, forKey: key, in: dictionary)
        case .float(let value): try transaction.set(value, forKey: key, in: dictionary)
        case .double(let value): try transaction.set(value, forKey: key, in: dictionary)
        case .string(let value): try transaction.set(value, forKey: key, in: dictionary)
        case .data(let value): try transaction.set(value, forKey: key, in: dictionary)
        case .date(let value): try transaction.set(value, forKey: key, in: dictionary)
        case .array, .dictionary:
            try transaction.set(self, forKey: key, in: dictionary.asPropertyLists)
        }
    }

    func enqueue(_ key: String, in dictionary: WorkspaceDictionary) -> Result<Void, RoostError> {
        switch self {
        case .bool(let value): dictionary.enqueue(value, forKey: key)
        case .int(let value): dictionary.enqueue(Int(value), forKey: key)
        case .uint(let value): dictionary.enqueue(value, forKey: key)
        case .float(let value): dictionary.enqueue(value, forKey: key)
        case .double(let value): dictionary.enqueue(value, forKey: key)
        case .string(let value): dictionary.enqueue(value, forKey: key)
        case .data(let value): dictionary.enqueue(value, forKey: key)
        case .date(let value): dictionary.enqueue(value, forKey: key)
        case .array, .dictionary: dictionary.asPropertyLists.enqueue(self, forKey: key)
        }
    }

    /// The value of `key`, whatever of a property list's types it has; `nil` where there is none. Of what typed
    /// keys store without a word on what it is, only what can be nothing but a date is taken for one.
    ///
    /// - Parameter isTextArray: Whether texts are asked for, as which such a value is read first.
    /// - Throws: `.typeMismatch` where it has another.
    static func value(
        of key: String, in dictionary: WorkspaceDictionary, isTextArray: Bool = false
    ) throws -> PropertyListTree? {
        guard let stored = try dictionary.storedValue(forKey: key) else { return nil }
        let plain = stored.plain?.value
        let payload = plain?.payload ?? []
        let read = StoredRead(stored: stored, key: key, dictionary: dictionary)
        return switch plain.flatMap({ ValueKind(rawValue: $0.kind) }) {
        case .bool: .bool(try read.value(.binary()))
        case .int: .int(Int64(try read.value(.binary()) as Int))
        case .int8: .int(Int64(try read.value(.binary()) as Int8))
        case .int16: .int(Int64(try read.value(.binary()) as Int16))
        case .int32: .int(Int64(try read.value(.binary()) as Int32))
        case .int64: .int(try read.value(.binary()))
        case .uint: .uint(UInt64(try read.value(.binary()) as UInt))
        case .uint8: .int(Int64(try read.value(.binary()) as UInt8))
        case .uint16: .int(Int64(try read.value(.binary()) as UInt16))
        case .uint32: .int(Int64(try read.value(.binary()) as UInt32))
        case .uint64: .uint(try read.value(.binary()))
        case .float: .float(try read.value(.binary()))
        case .double: .double(try read.value(.binary()))
        case .string: .string(try read.value(.binary()))
        case .data: .data(try read.value(.binary()))
        case .binary:
            if isTextArray, let texts = texts(payload) {
                .array(texts)
            } else if let date = date(payload) {
                .date(date)
            } else {
                throw read.failure
            }
        // `Codable` would take whole real numbers for integers.
        case .propertyList: try value(inPropertyList: payload)
        default: try read.value(.codable())
        }
    }

    /// `nil` where these bytes are no array of texts, or have characters that stand in no text: small integers
    /// are such.
    private static func texts(_ payload: [UInt8]) -> [PropertyListTree]? {
        let texts: [String]
        do {
            texts = try payload.withUnsafeBytes { try BinaryReader.decode([String].self, from: $0) }
        } catch {
            // They are those of another type.
            return nil
        }
        let isText = texts.allSatisfy { text in
            text.utf8.allSatisfy { $0 >= 0x20 || ($0 >= 0x09 && $0 <= 0x0d) }
        }
        return isText ? texts.map { .string($0) } : nil
    }

    /// The date that these bytes are, where it is one that a calendar has; `nil` where they are more likely
    /// another type's. A date is the eight bytes of a `Double`; eight bytes of texts or of integers are most
    /// often a number beyond all years, or nearer to none than a clock tells.
    private static func date(_ payload: [UInt8]) -> Date? {
        guard payload.count == 8 else { return nil }
        let bits = payload.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let seconds = Double(bitPattern: bits)
        guard seconds == 0 || (1e-9...1e12).contains(abs(seconds)) else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
}

/// A value that was read, to be decoded as what its bytes say it is: a second look might find another one,
/// or none.
private struct StoredRead {
    let stored: StoredValue
    let key: String
    let dictionary: WorkspaceDictionary

    func value<Value>(_ codec: ValueCodec<Value>) throws -> Value {
        let name = try dictionary.checkedName()
        return try ([stored.kind] + stored.payload).withUnsafeBytes {
            try codec.decode(
                stored: $0, key: key, name: name, migrations: dictionary.workspace.migrations)
        }
    }

    var failure: RoostError {
        RoostError(
            .typeMismatch,
            "\"\(key)\" in \"\(dictionary.name)\" is stored by a type whose bytes do not say what they are: "
                + "read it by its typed key")
    }
}

extension WorkspaceDictionary {
    /// The same dictionary, for `Codable` values in property list form.
    fileprivate var asPropertyLists: WorkspaceDictionary {
        workspace.dictionary(name, coder: .propertyList)
    }
}
