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

        /// No page reads more, so that a dictionary of any size has an answer.
        private static let readLimit = 20_000
        private static let objectsBetweenQuestions = 256

        /// So many after a cursor, and how they were found.
        ///
        /// - Parameter isCancelled: Asked now and then while objects are read.
        /// - Throws: a `Refusal` that says what is wrong with the condition; `.conflict` where the cursor is of
        ///   another order; `.typeMismatch` at what is no object with named fields.
        func page(
            of workspace: Workspace, after cursor: ObjectCursor?, limit: Int,
            isCancelled: @escaping () -> Bool
        ) throws -> (page: ObjectPages.Page, explanation: String) {
            var pages = ObjectPages(
                condition: try parsedCondition(), order: try parsedOrder(), limit: limit,
                readLimit: Self.readLimit)
            pages.onRead = { count in
                guard count % Self.objectsBetweenQuestions == 0, isCancelled() else { return }
                throw RoostError(.cancelled, "nobody waits for the objects any more")
            }
            let page = try pages.page(
                of: try StoredRepository(workspace, dictionary), after: cursor)
            return (page, Self.explanation(of: pages))
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

        private static func explanation(of pages: ObjectPages) -> String {
            let entries = pages.entryCount == 0 ? "" : "\(pages.entryCount) entries, "
            let notes = pages.notes.map { "; \($0)" }.joined()
            let unknown = pages.unknownPaths.map { "; no object has a member \"\($0)\"" }.joined()
            return
                "\(pages.way): \(entries)\(pages.objectCount) objects read\(notes)\(unknown)"
        }
    }
#endif
