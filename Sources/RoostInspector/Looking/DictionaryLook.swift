#if Inspector
    import Roost
    import RoostForms

    /// The dictionaries, and how many keys each has.
    enum DictionaryLook {
        /// Counts no keys: what snapshots say of each, which is near it. What cannot be read of one is said there,
        /// and the others are listed nevertheless.
        static func list(_ workspace: Workspace) throws -> JSONValue {
            let outlines = try workspace.dictionaryOutlines()
            return .members([
                "dictionaries": .array(try outlines.dictionaries.map { try json($0, workspace) }),
                "indexProblem": text(outlines.indexProblem),
            ])
        }

        private static func json(
            _ outline: DictionaryOutline, _ workspace: Workspace
        ) throws -> JSONValue {
            let (isRepository, problem) = try look(at: outline, workspace)
            return .members([
                "name": .string(outline.name), "isRepository": .bool(isRepository),
                "snapshotRecordCount": .integer(outline.snapshotRecordCount),
                "snapshotSizeBytes": .integer(outline.snapshotSizeBytes),
                "indexes": .array(outline.indexes.map { json($0) }),
                "problem": text(outline.problem ?? problem),
            ])
        }

        private static func text(_ problem: RoostError?) -> JSONValue {
            problem.map { .string($0.description) } ?? .null
        }

        /// Costs as `count` of a dictionary.
        static func count(_ workspace: Workspace, _ query: Query) throws -> JSONValue {
            let dictionary = workspace.dictionary(try query.required("dictionary"))
            return .members(["keyCount": .integer(try dictionary.count)])
        }

        /// What has indexes is a repository; so, most likely, is what begins with an object. And why that begin
        /// cannot be read, where it cannot.
        private static func look(
            at outline: DictionaryOutline, _ workspace: Workspace
        ) throws -> (isRepository: Bool, problem: RoostError?) {
            if !outline.indexes.isEmpty { return (true, nil) }
            var range = StoredRange(dictionary: outline.name)
            range.limit = 1
            let first: StoredEntry?
            do {
                first = try StoredRecords(workspace, range).nextEntry(
                    valueSizeLimitBytes: ValuePreview.decodedSizeLimitBytes)
            } catch let error as RoostError where error.code != .closed {
                return (false, error)
            }
            guard let first, !first.isCut else { return (false, nil) }
            if case .object(let members) = ReadableForm.json(first.value) {
                return (!(members.count == 1 && members[0].name.hasPrefix("$")), nil)
            }
            return (false, nil)
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
