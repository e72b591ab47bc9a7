#if Inspector
    import Roost
    import RoostForms

    /// A page of keys, in the order of their bytes: costs what is on it, however large the dictionary.
    enum EntryLook {
        private static let usualCount = 100
        private static let countLimit = 1000

        static func page(_ workspace: Workspace, _ query: Query) throws -> JSONValue {
            var range = StoredRange(dictionary: try query.required("dictionary"))
            range.prefix = query["prefix"] ?? ""
            let count = try query.count("limit", usual: usualCount, upTo: countLimit)
            // One more tells whether there is a next page.
            range.limit = count + 1
            range.order = try query.isDescending() ? .descending : .ascending
            if let last = query["after"] {
                switch range.order {
                // The first key that is greater has one more byte.
                case .ascending: range.from = last + "\0"
                case .descending: range.below = last
                }
            }
            let records = try StoredRecords(workspace, range)
            var entries: [JSONValue] = []
            while entries.count < count,
                let entry = try records.nextEntry(
                    valueSizeLimitBytes: ValuePreview.decodedSizeLimitBytes)
            {
                entries.append(json(entry))
            }
            let hasMore = try entries.count == count && records.passNext()
            return .members(["entries": .array(entries), "hasMore": .bool(hasMore)])
        }

        private static func json(_ entry: StoredEntry) -> JSONValue {
            let preview = ValuePreview(
                entry.value, sizeBytes: entry.sizeBytes, isCut: entry.isCut)
            return .object(
                [
                    .init(name: "key", value: .string(entry.key)),
                    .init(name: "version", value: .integer(entry.version)),
                ] + preview.members)
        }
    }
#endif
