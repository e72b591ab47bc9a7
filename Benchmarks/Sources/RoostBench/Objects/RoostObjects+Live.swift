import Roost

extension RoostObjects: LiveObjectEngine {
    static var tellsWhatIsTouched: Bool { true }

    enum Watch: Sendable {
        case object(Subscription)
        case query(Task<Void, Never>)
    }

    func watchObject(_ id: Int, _ told: @escaping @Sendable (Post) -> Void) throws -> Watch {
        .object(
            posts.subscribe(id) { event in
                switch event {
                case .initial(let post?), .updated(let post): told(post)
                default: break
                }
            })
    }

    func watch(
        prioritized range: Range<Int>, _ told: @escaping @Sendable ([Post]) -> Void
    ) throws -> Watch {
        let query = Post.prioritized(range, in: posts)
        return .query(Task { for await posts in query.updates() { told(posts) } })
    }

    func end(_ watches: [Watch]) async {
        for watch in watches {
            switch watch {
            case .object(let subscription): subscription.cancel()
            case .query(let task):
                task.cancel()
                await task.value
            }
        }
    }

    nonisolated(nonsending) func changeAll(
        _ ids: Range<Int>, _ body: @escaping @Sendable (inout Post) -> Void
    ) async throws {
        try await workspace.transaction { transaction in
            for id in ids { try transaction.update(id, in: posts, body) }
        }
    }
}
