import Foundation
import RoostCoding
import RoostFormat

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

    /// The value of `key`, whatever of a property list's types it has; `nil` where there is none.
    ///
    /// - Throws: `.typeMismatch` where it has another.
    static func value(
        of key: String, in dictionary: WorkspaceDictionary
    ) throws -> PropertyListTree? {
        guard let stored = try dictionary.storedValue(forKey: key) else { return nil }
        let plain = stored.plain?.value
        let kind = plain.flatMap { ValueKind(rawValue: $0.kind) }
        return switch kind {
        case .bool: try dictionary.value(forKey: key, as: Bool.self).map { .bool($0) }
        case .int: try dictionary.value(forKey: key, as: Int.self).map { .int(Int64($0)) }
        case .uint64: try dictionary.value(forKey: key, as: UInt64.self).map { .uint($0) }
        case .float: try dictionary.value(forKey: key, as: Float.self).map { .float($0) }
        case .double: try dictionary.value(forKey: key, as: Double.self).map { .double($0) }
        case .string: try dictionary.value(forKey: key, as: String.self).map { .string($0) }
        case .data: try dictionary.value(forKey: key, as: Data.self).map { .data($0) }
        case .binary: try dictionary.value(forKey: key, as: Date.self).map { .date($0) }
        // `Codable` would take whole real numbers for integers.
        case .propertyList: try value(inPropertyList: plain?.payload ?? [])
        default: try dictionary.value(forKey: key, as: PropertyListTree.self)
        }
    }
}

extension WorkspaceDictionary {
    /// The same dictionary, for `Codable` values in property list form.
    fileprivate var asPropertyLists: WorkspaceDictionary {
        workspace.dictionary(name, coder: .propertyList)
    }
}
