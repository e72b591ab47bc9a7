#if Inspector
    import Roost
    import RoostForms

    /// The dictionaries, and how many keys each has.
    enum DictionaryLook {
        /// Counts no keys: what snapshots say of each, which is near it.
        static func list(_ workspace: Workspace) throws -> JSONValue {
            .members([
                "dictionaries": .array(
                    try workspace.dictionaryOutlines().map { outline in
                        .members([
                            "name": .string(outline.name),
                            "isRepository": .bool(try isRepository(outline, workspace)),
                            "snapshotRecordCount": .integer(outline.snapshotRecordCount),
                            "snapshotSizeBytes": .integer(outline.snapshotSizeBytes),
                            "indexes": .array(outline.indexes.map { json($0) }),
                        ])
                    })
            ])
        }

        /// Costs as `count` of a dictionary.
        static func count(_ workspace: Workspace, _ query: Query) throws -> JSONValue {
            let dictionary = workspace.dictionary(try query.required("dictionary"))
            return .members(["keyCount": .integer(try dictionary.count)])
        }

        /// What has indexes is one; so, most likely, is what begins with an object. Where that cannot be read the
        /// list of all dictionaries is there nevertheless: reading it says why.
        private static func isRepository(
            _ outline: DictionaryOutline, _ workspace: Workspace
        ) throws -> Bool {
            if !outline.indexes.isEmpty { return true }
            var range = StoredRange(dictionary: outline.name)
            range.limit = 1
            let first: StoredEntry?
            do {
                first = try StoredRecords(workspace, range).nextEntry(
                    valueSizeLimitBytes: ValuePreview.decodedSizeLimitBytes)
            } catch let error as RoostError where error.code != .closed {
                return false
            }
            guard let first, !first.isCut else { return false }
            if case .object(let members) = ReadableForm.json(first.value) {
                return !(members.count == 1 && members[0].name.hasPrefix("$"))
            }
            return false
        }

        private static func json(_ outline: IndexOutline) -> JSONValue {
            let state =
                switch outline.index.state {
                case .built: "built"
                case .building: "being built"
                case .marked: "not used until it is built again"
                case .failed(let reason): "failed: \(reason)"
                }
            return .members([
                "name": .string(outline.index.name), "shape": .string(outline.index.shapeText),
                "state": .string(state), "entryRecordCount": .integer(outline.entryRecordCount),
                "snapshotSizeBytes": .integer(outline.snapshotSizeBytes),
            ])
        }
    }
#endif
