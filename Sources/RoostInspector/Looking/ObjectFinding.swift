#if Inspector
    import Roost
    import RoostForms

    /// Where the language of conditions, and the choice of an index, come in: what the objects tab asks
    /// goes through here.
    struct ObjectFinding {
        let dictionary: String
        /// Every object where it is empty.
        let condition: String
        /// A member to order by; the objects' keys where it is empty.
        let order: String
        let isDescending: Bool

        private static let objectsBetweenQuestions = 1024

        /// So many behind the first `skipped`, whether there are more, and how they were found.
        ///
        /// - Parameter isCancelled: Asked now and then while objects are read.
        /// - Throws: a `Refusal` that says what is wrong with the condition; `.typeMismatch` at what is no
        ///   object with named fields.
        func objects(
            of workspace: Workspace, skipping skipped: Int, limit: Int,
            isCancelled: @escaping () -> Bool
        ) throws -> (found: [StoredObject], hasMore: Bool, explanation: String) {
            var search = ObjectSearch(
                condition: try parsedCondition(), order: try parsedOrder(),
                limit: skipped + limit + 1)
            search.onRead = { count in
                guard count % Self.objectsBetweenQuestions == 0, isCancelled() else { return }
                throw RoostError(.cancelled, "nobody waits for the objects any more")
            }
            var found: [StoredObject] = []
            var count = 0
            try search.run(try StoredRepository(workspace, dictionary)) { object in
                count += 1
                if count > skipped, found.count < limit { found.append(object) }
            }
            return (found, count > skipped + limit, Self.explanation(of: search))
        }

        private func parsedCondition() throws -> ObjectCondition? {
            if condition.allSatisfy(\.isWhitespace) { return nil }
            do { return try ConditionParser.parse(condition) } catch {
                throw Refusal.badRequest("column \(error.column): \(error.reason)")
            }
        }

        private func parsedOrder() throws -> [ObjectOrderTerm] {
            if order.isEmpty { return [] }
            do { return try ObjectOrderTerm.terms((isDescending ? "-" : "") + order) } catch {
                throw Refusal.badRequest("sort: \(error.reason)")
            }
        }

        private static func explanation(of search: ObjectSearch) -> String {
            let order = search.order.isEmpty ? "" : ", sorted"
            let entries = search.entryCount == 0 ? "" : "\(search.entryCount) entries, "
            let notes = search.notes.map { "; \($0)" }.joined()
            let unknown = search.unknownPaths.map { "; no object has a member \"\($0)\"" }.joined()
            return
                "\(search.way)\(order): \(entries)\(search.objectCount) objects read\(notes)\(unknown)"
        }
    }
#endif
