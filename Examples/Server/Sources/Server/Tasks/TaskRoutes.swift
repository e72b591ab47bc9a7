import Foundation
import Hummingbird
import Roost
import RoostServices

/// Tasks as objects of a repository.
struct TaskRoutes {
    let workspace: Workspace
    let tasks: Repository<TaskItem>
    let finished: JobQueue<FinishedTask>
    let events: EventStreams

    /// What stands in a task's place in other paths below `/tasks`.
    private static let takenNames: Set = ["", "events", "finished"]

    func add(to router: Router<some RequestContext>) {
        let group = router.group("tasks")
        group.post { request, context in
            let draft = try await request.decode(as: TaskDraft.self, context: context)
            if let id = draft.id, Self.takenNames.contains(id) {
                throw HTTPError(
                    .badRequest, message: "no path would lead to a task of this identifier")
            }
            let task = TaskItem(
                id: draft.id ?? UUID().uuidString, title: draft.title,
                owner: draft.owner ?? "nobody")
            let added = try await addOnce(task)
            return EditedResponse(status: added.isNew ? .created : .ok, response: added.task)
        }
        group.get { request, _ in try await list(limit: request.uri.queryParameters["limit"]) }
        group.get("events") { request, _ in
            // A browser's `EventSource` says it when it comes again.
            let last = request.headers.first { $0.name.canonicalName == "last-event-id" }
            return events.response(following: tasks, since: last.flatMap { UInt64($0.value) })
        }
        group.get("finished") { _, _ in try counts() }
        group.get(":id") { _, context in try await task(context) }
        group.put(":id/done") { _, context in try await finish(try await task(context)) }
        group.delete(":id") { _, context in
            try await tasks.delete(try id(context))
            return HTTPResponse.Status.noContent
        }
    }

    /// A client that says again what it has said gets the task as it is by now: it may be done already.
    private func addOnce(_ task: TaskItem) async throws -> (task: TaskItem, isNew: Bool) {
        try await workspace.transaction { transaction in
            if let known = try transaction.find(task.id, in: tasks) { return (known, false) }
            try transaction.insert(task, in: tasks)
            return (task, true)
        }
    }

    private func task(_ context: some RequestContext) async throws -> TaskItem {
        guard let task = try await tasks.find(by: try id(context)) else {
            throw HTTPError(.notFound)
        }
        return task
    }

    /// The router leaves a path's parts as they were sent, such as `a%20b` for the task `a b`.
    private func id(_ context: some RequestContext) throws -> String {
        guard let id = try context.parameters.require("id").removingPercentEncoding else {
            throw HTTPError(.badRequest, message: "the identifier is no percent-encoded UTF-8")
        }
        return id
    }

    private func list(limit: Substring?) async throws -> [TaskItem] {
        let limit = min(limit.flatMap { Int($0) } ?? 100, 1000)
        return try tasks.dictionary.page(as: TaskItem.self, limit: max(1, limit)).map(\.value)
    }

    /// The task and the job that follows from it come together or not at all.
    private func finish(_ task: TaskItem) async throws -> TaskItem {
        try await workspace.transaction { transaction in
            guard var task = try transaction.find(task.id, in: tasks) else {
                throw HTTPError(.notFound)
            }
            if task.isDone { return task }
            task.isDone = true
            try transaction.save(task, in: tasks)
            try finished.enqueue(
                FinishedTask(taskID: task.id, owner: task.owner), id: task.id, in: &transaction)
            return task
        }
    }

    private func counts() throws -> [String: Int] {
        let counts = workspace.dictionary("finished.counts")
        return try counts.page(as: Int.self, limit: 1000).reduce(into: [:]) {
            $0[$1.key] = $1.value
        }
    }
}
