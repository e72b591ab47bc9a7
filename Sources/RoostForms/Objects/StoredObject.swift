import Roost
import RoostFormat

/// An object that a repository stored, as the tree that it is.
package struct StoredObject {
    package let key: String
    package let tree: JSONValue

    /// `nil` where the stored form does not name its fields.
    package init?(_ key: String, _ stored: StoredValue) {
        guard let plain = stored.plain?.value, let kind = ValueKind(rawValue: plain.kind),
            [.roost, .json, .propertyList].contains(kind),
            case .object(let members) = ReadableForm.json(stored),
            !(members.count == 1 && StoredForm.wrappers[members[0].name] != nil)
        else { return nil }
        self.key = key
        tree = .object(members)
    }

    /// - Throws: `.typeMismatch` where the stored form does not name its fields.
    init(_ key: String, _ stored: StoredValue, in repository: StoredRepository) throws {
        guard let object = StoredObject(key, stored) else {
            throw RoostError(
                .typeMismatch,
                "\"\(key)\" in \"\(repository.dictionary)\" does not name its fields: only the stored "
                    + "forms of Codable types do")
        }
        self = object
    }

    /// The entries that an index has of the object if its members are named as the type's properties are, of each the
    /// forms of which it has one; `nil` where that cannot be told.
    package func forms(in shape: StoredIndexShape) -> [[[UInt8]]]? {
        if let first = shape.fields.first, first.isEach {
            let path = ObjectCondition.MemberPath(first.path)
            guard case .array(let elements) = path.value(in: tree) else { return nil }
            var entries: Set<[[UInt8]]> = []
            for element in elements {
                guard let value = IndexedValue(element) else { return nil }
                let forms = first.forms(of: value)
                if forms.isEmpty { return nil }
                entries.insert(forms)
            }
            return Array(entries)
        }
        var joined: [[UInt8]] = [[]]
        for field in shape.fields {
            let member = ObjectCondition.MemberPath(field.path).value(in: tree) ?? .null
            guard let value = IndexedValue(member) else { return nil }
            let forms = field.forms(of: value)
            if forms.isEmpty { return nil }
            joined = joined.flatMap { begin in forms.map { begin + $0 } }
        }
        return [joined]
    }

    /// Whether an entry of this form is one of those that an index has of the object; `nil` where that cannot be told.
    package func hasForm(_ form: [UInt8], in shape: StoredIndexShape) -> Bool? {
        forms(in: shape)?.contains { $0.contains(form) }
    }
}

extension StoredRepository {
    /// Whether the index has of the object with this key, for each entry that it is to have, one of its forms.
    package func hasEntries(
        _ forms: [[[UInt8]]], _ key: String, in index: StoredIndex
    ) throws -> Bool {
        try forms.allSatisfy { forms in
            try forms.contains { try hasEntry($0, key, in: index) }
        }
    }
}

extension ObjectCondition.MemberPath {
    /// Of a property as an index names it: "author.name", "author?.name".
    package init(_ property: String) {
        names = property.split(separator: ".").map { $0.filter { $0 != "?" } }
    }
}

extension IndexedValue {
    /// `nil` for what no field of an index is stored as. A date is shown in milliseconds, and so is none.
    package init?(_ json: JSONValue) {
        switch json {
        case .null: self = .absent
        case .bool(let value): self = .bool(value)
        case .number(let text): self = .number(text)
        case .string(let text): self = .text(text)
        case .array, .object: return nil
        }
    }
}
