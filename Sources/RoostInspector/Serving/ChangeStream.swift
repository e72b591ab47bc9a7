#if Inspector
    import HTTPTypes
    import Hummingbird
    import NIOCore
    import Roost
    import RoostForms
    import ServiceLifecycle
    import Synchronization

    /// The changes of one dictionary, or of all, as server-sent events, as long as the browser listens.
    ///
    /// - One task for each dictionary reads its changes into one queue; what comes while that is full is
    ///   counted and told. No writer ever waits.
    /// - A browser that was cut off from one dictionary's changes goes on behind the version of the last
    ///   event that it had.
    struct ChangeStream: Sendable {
        private let workspace: Workspace
        /// All where it is `nil`.
        private let dictionary: String?
        private let prefix: String
        private let since: UInt64

        private static let queueCapacity = 4096
        /// So often a connection that is gone is noticed, and new dictionaries are looked for.
        private static let pause = Duration.seconds(2)

        init(_ workspace: Workspace, _ query: Query, _ request: Request) throws {
            self.workspace = workspace
            dictionary = query["dictionary"]
            prefix = query["prefix"] ?? ""
            let last = request.headers[.lastEventID].flatMap { UInt64($0) }
            since = last ?? workspace.statistics.lastSequence
        }

        var response: Response {
            Response(
                status: .ok, headers: [.contentType: "text/event-stream"],
                body: ResponseBody { writer in
                    try await write(to: &writer)
                    try await writer.finish(nil)
                })
        }

        private func write(to writer: inout any ResponseBodyWriter) async throws {
            let (queue, feed) = AsyncStream.makeStream(
                of: String.self, bufferingPolicy: .bufferingOldest(Self.queueCapacity))
            let outlet = Outlet(feed: feed)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await cancelWhenGracefulShutdown { await follow(into: outlet) }
                    feed.finish()
                }
                for await event in queue {
                    try await writer.write(ByteBuffer(string: event))
                    if let missed = outlet.takeMissed() {
                        try await writer.write(ByteBuffer(string: missed))
                    }
                }
                group.cancelAll()
            }
        }

        // MARK: Reading

        /// Follows every dictionary from the begin on, those too that are made later.
        private func follow(into outlet: Outlet) async {
            await withDiscardingTaskGroup { group in
                var known: Set<[UInt8]> = []
                while !Task.isCancelled {
                    for name in names() where known.insert(Array(name.utf8)).inserted {
                        let changes = workspace.dictionary(name).storedChanges(
                            prefix: prefix, since: since)
                        group.addTask {
                            for await change in changes {
                                outlet.send(event(of: change, in: name))
                            }
                        }
                    }
                    outlet.send(": here\n\n")
                    do { try await Task.sleep(for: Self.pause) } catch { break }
                }
                group.cancelAll()
            }
        }

        private func names() -> [String] {
            if let dictionary { return [dictionary] }
            // A workspace that was closed ends all its sequences, and with them the stream.
            return (try? workspace.dictionaryNames) ?? []
        }

        private func event(of change: DictionaryChange<StoredValue>, in name: String) -> String {
            let identifier =
                dictionary == nil ? "" : change.version.map { "id: \($0)\n" } ?? ""
            return "\(identifier)data: \(ChangeLook.json(change, in: name).text)\n\n"
        }
    }

    /// The queue's entrance, which counts what found no room.
    private final class Outlet: Sendable {
        private let feed: AsyncStream<String>.Continuation
        private let missedCount = Atomic<Int>(0)

        init(feed: AsyncStream<String>.Continuation) { self.feed = feed }

        func send(_ event: String) {
            if case .dropped = feed.yield(event) { missedCount.add(1, ordering: .relaxed) }
        }

        func takeMissed() -> String? {
            let count = missedCount.exchange(0, ordering: .relaxed)
            return count == 0 ? nil : "data: \(ChangeLook.missed(count, in: nil).text)\n\n"
        }
    }
#endif
