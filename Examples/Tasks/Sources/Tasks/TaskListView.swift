import Foundation
import Roost

/// The list on the screen. It shows a live query: each newer result is drawn, whoever changed it.
struct TaskListView {
    private enum Event: Sendable {
        case tasks([TaskItem], ofList: Int)
        case key(Character)
        case failure(String)
    }

    let tasks: Repository<TaskItem>
    let queue: RequestQueue

    private static let queuePause = Duration.milliseconds(100)
    private static let rowLimit = 500

    func run() async throws {
        let (events, sender) = AsyncStream.makeStream(of: Event.self)
        let terminal = Terminal()
        try terminal.begin()
        defer { terminal.end() }
        let keys = Task.detached { for await key in terminal.keys { sender.yield(.key(key)) } }
        let draining = Task {
            while !Task.isCancelled {
                // What fails is tried again: a disk may be full for a moment.
                do {
                    try await queue.drain(into: tasks) { sender.yield(.failure($0)) }
                } catch { if !Task.isCancelled { sender.yield(.failure("\(error)")) } }
                do { try await Task.sleep(for: Self.queuePause) } catch { return }
            }
        }
        defer {
            keys.cancel()
            draining.cancel()
        }
        try await show(events, sender, terminal)
        // A request that is being applied is applied before the workspace is closed.
        draining.cancel()
        await draining.value
    }

    private func show(
        _ events: AsyncStream<Event>, _ sender: AsyncStream<Event>.Continuation,
        _ terminal: Terminal
    ) async throws {
        var state = TaskListState()
        var live = follow(state, sender)
        defer { live.cancel() }
        for await event in events {
            switch event {
            case .tasks(let tasks, let list): if list == state.list { state.show(tasks) }
            case .failure(let text): state.message = text
            case .key("q"):
                sender.finish()
                return
            case .key("f"), .key("o"):
                if case .key("f") = event {
                    state.filter = state.filter.next
                } else {
                    state.order = state.order.next
                }
                state.list += 1
                live.cancel()
                live = follow(state, sender)
            case .key(let key): try await act(key, &state)
            }
            terminal.draw(state.lines(width: terminal.size.columns, height: terminal.size.rows))
        }
    }

    /// Has each result of what the list shows sent, until it is cancelled.
    private func follow(
        _ state: TaskListState, _ sender: AsyncStream<Event>.Continuation
    ) -> Task<Void, Never> {
        let query = state.order.applied(to: state.filter.query(of: tasks)).limit(Self.rowLimit)
        let list = state.list
        return Task {
            for await tasks in query.updates() { sender.yield(.tasks(tasks, ofList: list)) }
        }
    }

    /// What a key does to the task that is chosen. The list shows it when the store does.
    private func act(_ key: Character, _ state: inout TaskListState) async throws {
        switch key {
        case "j": state.move(by: 1)
        case "k": state.move(by: -1)
        case " ": if let id = state.chosen { try await tasks.update(id) { $0.isDone.toggle() } }
        case "+": if let id = state.chosen { try await tasks.update(id) { $0.priority += 1 } }
        case "-": if let id = state.chosen { try await tasks.update(id) { $0.priority -= 1 } }
        case "d": if let id = state.chosen { try await tasks.delete(id) }
        default: break
        }
    }
}

/// What the screen shows.
struct TaskListState {
    var filter = TaskFilter.open
    var order = TaskOrder.priority
    /// Counts the lists that were asked for: what comes of an earlier one is not shown.
    var list = 0
    var message = ""
    private(set) var chosen: UUID?
    private var tasks: [TaskItem] = []

    /// Keeps the chosen task while it is there; else that which has come to its place.
    mutating func show(_ newer: [TaskItem]) {
        let place = tasks.firstIndex { $0.id == chosen } ?? 0
        tasks = newer
        if !tasks.contains(where: { $0.id == chosen }) {
            chosen = tasks.isEmpty ? nil : tasks[min(place, tasks.count - 1)].id
        }
    }

    mutating func move(by distance: Int) {
        guard let place = tasks.firstIndex(where: { $0.id == chosen }) else { return }
        chosen = tasks[min(max(place + distance, 0), tasks.count - 1)].id
    }

    func lines(width: Int, height: Int) -> [String] {
        let count = tasks.count == 1 ? "1 task" : "\(tasks.count) tasks"
        var lines = ["\(filter.rawValue), by \(order.rawValue): \(count)", ""]
        let rows = max(1, height - 4)
        let place = tasks.firstIndex { $0.id == chosen } ?? 0
        // The chosen one is on the screen.
        let first = max(0, place - rows + 1)
        for task in tasks[first..<min(first + rows, tasks.count)] {
            let mark = task.id == chosen ? ">" : " "
            let box = task.isDone ? "[x]" : "[ ]"
            lines.append("\(mark) \(box) \(task.priority)  \(task.title)")
        }
        if tasks.isEmpty { lines.append("  nothing to do") }
        lines += [
            "",
            message.isEmpty
                ? "j k move  space done  + - priority  d delete  f filter  o order  q quit"
                : message,
        ]
        return lines.map { String($0.prefix(max(1, width))) }
    }
}
