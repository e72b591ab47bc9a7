#if Inspector
    import Foundation
    import Roost
    import RoostForms
    import RoostFormat

    /// One value: its tree, or its bytes, and what can be changed of it.
    enum ValueLook {
        /// A longer value is shown as its first bytes.
        private static let treeSizeLimitBytes = 1 << 20
        private static let bytesLimit = 4096

        static func json(_ workspace: Workspace, _ query: Query) throws -> JSONValue {
            let name = try query.required("dictionary")
            let key = try query.required("key")
            guard let entry = try workspace.dictionary(name).storedEntry(forKey: key) else {
                throw Refusal.notFound("the key has no value any more")
            }
            return json(entry)
        }

        static func json(_ entry: StoredEntry) -> JSONValue {
            let plain = entry.value.plain?.value ?? entry.value
            let isShown = entry.sizeBytes <= treeSizeLimitBytes
            let preview = ValuePreview(entry.value, sizeBytes: entry.sizeBytes, isCut: !isShown)
            let tree = isShown ? self.tree(plain) : nil
            let text = isShown ? EditableForm.text(entry.value) : nil
            return .object(
                [
                    .init(name: "key", value: .string(entry.key)),
                    .init(name: "version", value: .integer(entry.version)),
                    .init(name: "fingerprint", value: .string(entry.fingerprint)),
                    .init(name: "tree", value: tree ?? .null),
                    .init(name: "bytes", value: tree == nil ? bytes(plain) : .null),
                    .init(name: "editableText", value: text.map { .string($0) } ?? .null),
                ] + preview.members)
        }

        /// A node is its type and its text, its elements or its members.
        private static func tree(_ plain: StoredValue) -> JSONValue? {
            switch ValueKind(rawValue: plain.kind) {
            case .roost, .json, .propertyList: ReadableForm.valueTree(plain).map { node($0) }
            case .binary, .data, .bytes, nil: nil
            case .some(let kind):
                leaf(kind.typeName, ReadableForm.text(plain))
            }
        }

        private static func node(_ tree: ValueTree) -> JSONValue {
            switch tree {
            case .array(let elements):
                .members([
                    "type": .string("Array"), "elements": .array(elements.map { node($0) }),
                ])
            case .object(let members):
                .members([
                    "type": .string("Object"),
                    "members": .array(
                        members.map { .array([.string($0.name), node($0.value)]) }),
                ])
            default: leaf(tree.typeName, text(tree))
            }
        }

        private static func leaf(_ type: String, _ text: String) -> JSONValue {
            .members(["type": .string(type), "text": .string(text)])
        }

        private static func text(_ tree: ValueTree) -> String {
            switch tree {
            case .data(let data): "\(data.count) bytes: " + hexadecimal(data.prefix(64))
            default: if case .string(let text) = tree.json { text } else { tree.json.text }
            }
        }

        private static func bytes(_ plain: StoredValue) -> JSONValue {
            .members([
                "count": .integer(plain.payload.count),
                "first": .string(hexadecimal(plain.payload.prefix(bytesLimit))),
            ])
        }

        private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        }
    }
#endif
