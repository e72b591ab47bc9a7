import Foundation
import Hummingbird
import Roost
import ServiceLifecycle
import Synchronization

/// Streams of server-sent events: what changes, as it changes.
///
/// - A stream never ends by itself, so at a shutdown they are ended first, before the server waits for
///   its last response.
/// - A client that has gone is noticed by a write that fails only: a comment, which clients pass over, is written
///   every few seconds, or each would leave a connection and a watcher until the next change.
final class EventStreams: Service {
    private struct State {
        var lastID = 0
        var streams: [Int: Task<Void, any Error>] = [:]
        var isEnded = false
    }

    private let state = Mutex(State())
    private static let signOfLifeInterval = Duration.seconds(5)

    func run() async throws {
        do { try await gracefulShutdown() } catch is CancellationError {}
        let streams = state.withLock { state in
            state.isEnded = true
            return state.streams.values
        }
        for stream in streams { stream.cancel() }
    }

    /// Every change of the tasks from now on, or behind the event that the client had last.
    func response(following tasks: Repository<TaskItem>, since version: UInt64?) -> Response {
        // From here on, so that nothing is missed between this and the first look.
        let changes = tasks.changes(since: version)
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
            body: .init { [self] writer in
                try await writer.write(ByteBuffer(string: ": following\n\n"))
                let (lines, continuation) = AsyncStream.makeStream(
                    of: String.self, bufferingPolicy: .bufferingOldest(256))
                let id = follow(changes, continuation)
                defer { end(id) }
                for await line in lines { try await writer.write(ByteBuffer(string: line)) }
                try await writer.finish(nil)
            })
    }

    private func follow(
        _ changes: DictionaryChanges<TaskItem>, _ lines: AsyncStream<String>.Continuation
    ) -> Int {
        state.withLock { state in
            state.lastID += 1
            if state.isEnded {
                lines.finish()
                return state.lastID
            }
            state.streams[state.lastID] = Task {
                defer { lines.finish() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await Self.tell(changes, lines) }
                    group.addTask { try await Self.giveSignsOfLife(lines) }
                    // The first that ends has a reason to end the stream.
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
            return state.lastID
        }
    }

    private static func tell(
        _ changes: DictionaryChanges<TaskItem>, _ lines: AsyncStream<String>.Continuation
    ) async throws {
        let encoder = JSONEncoder()
        // As in the answers: a client reads a task the same way wherever it comes from.
        encoder.dateEncodingStrategy = .iso8601
        for await change in changes {
            guard let line = try line(change, encoder) else { continue }
            // A client that is too slow comes again, and reads the list first.
            if case .dropped = lines.yield(line) { return }
        }
    }

    private static func giveSignsOfLife(_ lines: AsyncStream<String>.Continuation) async throws {
        while true {
            try await Task.sleep(for: signOfLifeInterval)
            if case .dropped = lines.yield(": here\n\n") { return }
        }
    }

    private func end(_ id: Int) {
        state.withLock { $0.streams.removeValue(forKey: id) }?.cancel()
    }

    private static func line(
        _ change: DictionaryChange<TaskItem>, _ encoder: JSONEncoder
    ) throws -> String? {
        let version = change.version.map { "id: \($0)\n" } ?? ""
        switch change {
        case .set(_, let task, _):
            return "\(version)event: task\ndata: \(try json(task, encoder))\n\n"
        // An identifier may have line breaks, which would end the event's data.
        case .removed(let key, _):
            return "\(version)event: removed\ndata: \(try json(key, encoder))\n\n"
        // Whoever has missed some reads the list again.
        case .removedAll, .missed: return "\(version)event: reload\ndata:\n\n"
        case .unreadable: return nil
        }
    }

    /// In one line, whatever `value` has.
    private static func json(_ value: some Encodable, _ encoder: JSONEncoder) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
