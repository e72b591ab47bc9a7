#if Inspector
    import Roost
    import RoostForms

    /// A page of a repository's objects as a table.
    enum ObjectLook {
        private static let usualCount = 50
        private static let countLimit = 500
        private static let cellCharacterLimit = 120

        static func table(
            _ workspace: Workspace, _ query: Query, isCancelled: @escaping () -> Bool
        ) throws -> JSONValue {
            let finding = ObjectFinding(
                dictionary: try query.required("dictionary"), condition: query["where"] ?? "",
                order: query["sort"] ?? "", isDescending: try query.isDescending())
            let count = try query.count("limit", usual: usualCount, upTo: countLimit)
            var cursor: ObjectCursor?
            if let text = query["after"] {
                cursor = ObjectCursor(text)
                if cursor == nil { throw Refusal.badRequest("after is where a page ended") }
            }
            let (page, explanation) = try finding.page(
                of: workspace, after: cursor, limit: count, isCancelled: isCancelled)
            var warnings = page.warnings
            let next = page.next?.text
            if page.next != nil, next == nil {
                warnings.append(
                    "there are more objects, but the one that the next page would begin behind has too long a "
                        + "key or value to be told in an address")
            }
            return .members([
                "columns": .array(columns(page.objects).map { .string($0) }),
                "rows": .array(page.objects.map { row($0) }),
                "next": next.map { .members(["after": .string($0)]) } ?? .null,
                "warnings": .array(warnings.map { .string($0) }),
                "explanation": .string(explanation),
            ])
        }

        /// The members of any of the objects, in the order in which they come.
        private static func columns(_ objects: [StoredObject]) -> [String] {
            var seen: Set<String> = []
            return objects.flatMap { members($0.tree).map(\.name) }.filter {
                seen.insert($0).inserted
            }
        }

        private static func row(_ object: StoredObject) -> JSONValue {
            let cells = members(object.tree).map { member in
                JSONValue.Member(name: member.name, value: .string(text(member.value)))
            }
            return .members(["key": .string(object.key), "cells": .object(cells)])
        }

        private static func text(_ value: JSONValue) -> String {
            let text =
                switch value {
                case .null: ""
                case .string(let text): text
                default: value.text
                }
            return text.count <= cellCharacterLimit
                ? text : String(text.prefix(cellCharacterLimit)) + "…"
        }

        private static func members(_ tree: JSONValue) -> [JSONValue.Member] {
            if case .object(let members) = tree { members } else { [] }
        }
    }
#endif
