import Foundation
import Roost

/// What is to be done.
struct TaskItem: Codable, Identifiable, Sendable, Equatable {
    var id = UUID()
    var title: String
    var priority = 0
    var due: Date?
    var isDone = false
    var addedAt = Date()
}

extension TaskItem: Indexed {
    static var indexes: [Index<TaskItem>] {
        [
            Index("done-priority", \.isDone, .descending(\.priority)),
            Index("due", \.due),
        ]
    }
}

/// Which tasks a list shows.
enum TaskFilter: String, CaseIterable {
    case open, urgent, all

    func query(of tasks: Repository<TaskItem>) -> Query<TaskItem> {
        switch self {
        case .open: tasks.where { !$0.isDone }
        case .urgent: tasks.where { !$0.isDone && $0.priority >= 5 }
        case .all: tasks.all
        }
    }
}

/// In which order.
enum TaskOrder: String, CaseIterable {
    case priority, due, title

    func applied(to query: Query<TaskItem>) -> Query<TaskItem> {
        switch self {
        case .priority: query.order(by: \.priority, .descending).order(by: \.addedAt)
        case .due: query.order(by: \.due).order(by: \.addedAt)
        case .title: query.order(by: \.title)
        }
    }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
    /// The next case, and behind the last the first.
    var next: Self {
        let cases = Self.allCases
        let place = cases.firstIndex(of: self) ?? 0
        return cases[(place + 1) % cases.count]
    }
}
