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
            guard arguments.count == 2, let id = UUID(uuidString: arguments[1]) else {
                throw Usage()
            }
            try await change(.finish(id), at: path, queue)
        case "print":
            try await withTasks(at: path, queue) { tasks in
                let open = TaskOrder.priority.applied(to: TaskFilter.open.query(of: tasks))
                try open.forEach { print("\($0.id)  \($0.priority)  \($0.title)") }
            }
        default: throw Usage()
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
        try await queue.drain(into: tasks)
        try await body(tasks)
        try await workspace.close()
    }
}

struct Usage: Error, CustomStringConvertible {
    let description = "usage: tasks [add TITLE [PRIORITY] | done ID | print]"
}
