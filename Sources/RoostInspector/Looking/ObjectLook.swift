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
            let offset = try query.offset("offset")
            let page = try finding.objects(
                of: workspace, skipping: offset, limit: count, isCancelled: isCancelled)
            let next: JSONValue =
                page.hasMore ? .members(["offset": .integer(offset + count)]) : .null
            return .members([
                "columns": .array(columns(page.found).map { .string($0) }),
                "rows": .array(page.found.map { row($0) }), "next": next,
                "explanation": .string(page.explanation),
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
