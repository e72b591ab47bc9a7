import Foundation
import Roost

/// A task list in the terminal.
///
///     tasks                          the list, which redraws while tasks come and go
///     tasks add TITLE [PRIORITY]     adds a task, also while the list is shown elsewhere
///     tasks done ID                  finishes one, by the begin of its identifier
///     tasks print                    the open tasks, once
///
/// The tasks are in the directory that TASKS names, or in ~/.tasks.
@main
struct TasksProgram {
    static func main() async {
        do { try await run(Array(CommandLine.arguments.dropFirst())) } catch {
            FileHandle.standardError.write(Data("tasks: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        let path =
            ProcessInfo.processInfo.environment["TASKS"] ?? NSHomeDirectory() + "/.tasks"
        let queue = try RequestQueue(beside: path)
        switch arguments.first {
        case nil:
            try await withTasks(at: path, queue) {
                try await TaskListView(tasks: $0, queue: queue).run()
            }
        case "add":
            guard arguments.count > 1 else { throw Usage() }
            let priority = try arguments.dropFirst(2).first.map { text in
                guard let number = Int(text) else { throw Usage() }
                return number
            }
            let task = TaskItem(title: arguments[1], priority: priority ?? 0)
            try await change(.add(task), at: path, queue)
        case "done":
            guard arguments.count == 2, !arguments[1].isEmpty else { throw Usage() }
            var id: UUID?
            try await readTasks(at: path, queue) {
                id = try await identifier(beginningWith: arguments[1], in: $0)
            }
            if let id { try await change(.finish(id), at: path, queue) }
        case "print":
            try await readTasks(at: path, queue) { tasks in
                let open = TaskOrder.priority.applied(to: TaskFilter.open.query(of: tasks))
                try open.forEach { print("\($0.id)  \($0.priority)  \($0.title)") }
            }
        default: throw Usage()
        }
    }

    /// The one task whose identifier begins so.
    private static func identifier(
        beginningWith prefix: String, in tasks: Repository<TaskItem>
    ) async throws -> UUID {
        var keys: [String] = []
        for try await key in tasks.dictionary.keys(prefix: prefix.uppercased(), limit: 2) {
            keys.append(key)
        }
        guard let key = keys.first, let id = UUID(uuidString: key) else {
            throw Refused(description: "no task's identifier begins with \(prefix)")
        }
        guard keys.count == 1 else {
            throw Refused(description: "several tasks' identifiers begin with \(prefix)")
        }
        return id
    }

    /// As `withTasks`; beside a process that has the workspace open, what that shows within milliseconds.
    private static func readTasks(
        at path: String, _ queue: RequestQueue, _ body: (Repository<TaskItem>) async throws -> Void
    ) async throws {
        do { try await withTasks(at: path, queue, body) } catch let error as RoostError
            where error.code == .locked
        {
            let workspace = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            try await body(workspace.repository(of: TaskItem.self))
            try await workspace.close()
        }
    }

    /// By the process that has the workspace open; by this one where none has.
    private static func change(
        _ request: TaskRequest, at path: String, _ queue: RequestQueue
    ) async throws {
        try queue.add(request)
        do { try await withTasks(at: path, queue) { _ in } } catch let error as RoostError
            where error.code == .locked
        {
            // Whoever shows the list takes it from the queue, or whoever opens the workspace next.
        }
    }

    /// Opens the workspace, and first does what others have asked for.
    private static func withTasks(
        at path: String, _ queue: RequestQueue, _ body: (Repository<TaskItem>) async throws -> Void
    ) async throws {
        let workspace = try await Workspace.open(at: path)
        let tasks = workspace.repository(of: TaskItem.self)
        try await queue.drain(into: tasks) { problem in
            FileHandle.standardError.write(Data("tasks: \(problem)\n".utf8))
        }
        try await body(tasks)
        try await workspace.close()
    }
}

struct Refused: Error, CustomStringConvertible {
    let description: String
}

struct Usage: Error, CustomStringConvertible {
    let description = "usage: tasks [add TITLE [PRIORITY] | done ID | print]"
}
