#if Inspector
    import HTTPTypes
    import Hummingbird
    import NIOPosix
    import Roost
    import RoostForms
    import Synchronization

    /// Who answers which request.
    ///
    /// - Nothing is looked at before `AccessGuard` let the request in.
    /// - What reads the store runs on threads that may block, not on the cooperative pool.
    struct InspectorResponder: HTTPResponder {
        typealias Context = BasicRequestContext

        let workspace: Workspace
        let access: AccessGuard
        let history: StorageHistory
        let health: HealthCheck
        let allowsWriting: Bool
        /// Called when a link has let a browser in.
        let onLinkUsed: @Sendable () -> Void

        func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
            var response: Response
            do {
                response = try await answer(request)
            } catch let refusal as Refusal {
                response = .json(refusal.json, status: refusal.status)
            } catch let error as RoostError {
                let refusal = Refusal(error)
                response = .json(refusal.json, status: refusal.status)
            }
            response.addSecurityHeaders()
            return response
        }

        private func answer(_ request: Request) async throws -> Response {
            if let refusal = access.refusalOfOrigin(request) { throw refusal }
            let path = request.uri.path
            if path == AccessGuard.openPath { return try open(request) }
            let isCall = path.hasPrefix("/api/")
            if let refusal = access.refusalOfSession(request, needsKey: isCall) {
                // A person who comes without a link is to read why.
                if path == "/" { return Pages.refused(refusal) }
                throw refusal
            }
            guard isCall else {
                guard request.method == .get else { throw Refusal.notAllowed("GET") }
                return try Pages.file(path)
            }
            return try await answer(String(path.dropFirst("/api/".count)), request)
        }

        private func open(_ request: Request) throws -> Response {
            guard request.method == .get else { throw Refusal.notAllowed("GET") }
            guard let token = request.uri.queryParameters["token"],
                let entrance = access.openSession(token: String(token))
            else { return Pages.refused(.noSession) }
            onLinkUsed()
            return Pages.opened(entrance)
        }

        private func answer(_ name: String, _ request: Request) async throws -> Response {
            let query = Query(request)
            switch (name, request.method) {
            case ("workspace", .get):
                return try await read { try WorkspaceLook.json($0, allowsWriting) }
            case ("dictionaries", .get): return try await read { try DictionaryLook.list($0) }
            case ("count", .get): return try await read { try DictionaryLook.count($0, query) }
            case ("entries", .get): return try await read { try EntryLook.page($0, query) }
            case ("value", .get): return try await read { try ValueLook.json($0, query) }
            case ("objects", .get): return try await objects(request)
            case ("live", .get): return try await read { try StorageLook.live($0) }
            case ("storage", .get): return .json(await history.json)
            case ("changes", .get): return try ChangeStream(workspace, query, request).response
            case ("verify", .get): return .json(await health.json)
            case ("verify", .post):
                try requireOwnPage(request)
                await health.begin()
                return .json(await health.json, status: .accepted)
            case ("value", .put), ("value", .delete):
                try requireOwnPage(request)
                guard allowsWriting else { throw Refusal.readOnly }
                let edit = try await ValueEdit(request)
                return .json(try await edit.make(in: workspace))
            default: throw Self.refusal(of: name)
            }
        }

        private static func refusal(of name: String) -> Refusal {
            switch name {
            case "workspace", "dictionaries", "count", "entries", "objects", "live", "storage",
                "changes":
                .notAllowed("GET")
            case "value": .notAllowed("GET, PUT and DELETE")
            case "verify": .notAllowed("GET and POST")
            default: .notFound("there is nothing at this address")
            }
        }

        /// What changes something is sent by a script of this server's page, never by a form.
        private func requireOwnPage(_ request: Request) throws {
            guard request.headers[.origin] != nil else { throw Refusal.otherOrigin }
            guard request.headers[.contentType] == "application/json" else {
                throw Refusal.badRequest("the content type is application/json")
            }
        }

        /// A search over many objects ends once its browser is gone, or asks for another one.
        private func objects(_ request: Request) async throws -> Response {
            let query = Query(request)
            let isGone = Flag()
            return try await request.body.consumeWithInboundCloseHandler { _ in
                try await read { try ObjectLook.table($0, query, isCancelled: { isGone.isSet }) }
            } onInboundClosed: {
                isGone.set()
            }
        }

        private func read(
            _ body: @escaping @Sendable (Workspace) throws -> JSONValue
        ) async throws -> Response {
            let workspace = workspace
            return .json(try await NIOThreadPool.singleton.runIfActive { try body(workspace) })
        }
    }

    /// Set once, from any thread.
    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
#endif
