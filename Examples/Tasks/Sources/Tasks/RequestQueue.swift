import Foundation
import Roost

/// A change that another run of the program asks of the one that has the workspace open.
enum TaskRequest: Codable, Sendable {
    case add(TaskItem)
    case finish(UUID)
}

/// A directory of requests, a file each: one process owns a workspace, and the others ask it.
///
/// A request is there whole or not at all, as its file is renamed into place; and it is applied once,
/// however often it is found: adding a task that is there, and finishing one twice, change nothing. A
/// file that is no request is laid aside and reported, and the others are applied. What it asks for is on disk before
/// its file goes: else a power cut could take both.
struct RequestQueue: Sendable {
    let directory: URL

    init(beside workspacePath: String) throws {
        directory = URL(fileURLWithPath: workspacePath + ".queue")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    func add(_ request: TaskRequest) throws {
        // Names go up with time, so that requests are taken in their order.
        let milliseconds = Int(Date().timeIntervalSince1970 * 1000)
        let name = String(format: "%015d-", milliseconds) + UUID().uuidString
        let hidden = directory.appendingPathComponent("." + name)
        try JSONEncoder().encode(request).write(to: hidden)
        try FileManager.default.moveItem(
            at: hidden, to: directory.appendingPathComponent(name + ".json"))
    }

    /// Applies what waits, and reports what cannot be.
    func drain(
        into tasks: Repository<TaskItem>, report: (_ problem: String) -> Void
    ) async throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: directory, includingPropertiesForKeys: nil)
        let waiting = files.filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        for file in waiting {
            let data = try Data(contentsOf: file)
            let request: TaskRequest
            do { request = try JSONDecoder().decode(TaskRequest.self, from: data) } catch {
                // As another version of the program may have written it.
                let aside = file.appendingPathExtension("unreadable")
                try FileManager.default.moveItem(at: file, to: aside)
                report("\(aside.path) is no request: \(error)")
                continue
            }
            switch request {
            case .add(let task):
                do { try await tasks.insert(task) } catch let error as RoostError
                    where error.code == .alreadyExists
                {
                    // It was applied, and the program ended before its file was removed.
                }
            case .finish(let id): try await tasks.update(id) { $0.isDone = true }
            }
            try await tasks.dictionary.workspace.synchronize()
            try FileManager.default.removeItem(at: file)
        }
    }
}
