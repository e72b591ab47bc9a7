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
    /// - A browser that was cut off from one dictionary's changes goes on after the last version of which it
    ///   had every event: what it had of the next one is told again.
    /// - Where the store says no more changes, the last event is why: a stream that goes quiet would look
    ///   like a store that nobody writes to.
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
                if let ending = outlet.ending {
                    let event = "event: ended\ndata: \(ChangeLook.ended(ending).text)\n\n"
                    try await writer.write(ByteBuffer(string: event))
                }
                group.cancelAll()
            }
        }

        // MARK: Reading

        private enum Step {
            /// Dictionaries that were made meanwhile are looked for.
            case look
            case ended(RoostError)
            /// The browser has gone, or the server ends.
            case cancelled
        }

        /// Follows every dictionary from the begin on, those too that are made later, until the store has no
        /// more changes to tell.
        private func follow(into outlet: Outlet) async {
            await withTaskGroup(of: Step.self) { group in
                var known: Set<[UInt8]> = []
                // Of the look before and of the one before that, which is where a dictionary is followed from that
                // was not there before: what is staged has its number already, and is not seen yet.
                var numbers = [since, since]
                group.addTask { .look }
                while let step = await group.next() {
                    switch step {
                    case .look:
                        do {
                            let number = workspace.statistics.lastSequence
                            for name in try names()
                            where known.insert(Array(name.utf8)).inserted {
                                let changes = workspace.dictionary(name).storedChanges(
                                    prefix: prefix, since: numbers[0])
                                group.addTask { await tell(changes, of: name, into: outlet) }
                            }
                            numbers = [numbers[1], number]
                        } catch {
                            outlet.end(because: Self.roostError(error))
                            return group.cancelAll()
                        }
                        outlet.send(": here\n\n")
                        group.addTask { await Self.pauseBeforeLook() }
                    case .ended(let error):
                        outlet.end(because: error)
                        return group.cancelAll()
                    case .cancelled: return group.cancelAll()
                    }
                }
            }
        }

        private static func pauseBeforeLook() async -> Step {
            do { try await Task.sleep(for: pause) } catch { return .cancelled }
            return .look
        }

        private func tell(
            _ changes: DictionaryChanges<StoredValue>, of name: String, into outlet: Outlet
        ) async -> Step {
            var last = since
            for await change in changes {
                var identifier = ""
                // With the first event of the next version the browser has all of the last.
                if let version = change.version, version > last {
                    if dictionary != nil { identifier = "id: \(last)\n" }
                    last = version
                }
                outlet.send("\(identifier)data: \(ChangeLook.json(change, in: name).text)\n\n")
            }
            if Task.isCancelled { return .cancelled }
            // The sequence only ends; every read says why.
            do { _ = try workspace.dictionary(name).storedEntry(forKey: "") } catch {
                return .ended(Self.roostError(error))
            }
            return .ended(RoostError(.io, "the changes of \"\(name)\" have ended"))
        }

        private static func roostError(_ error: any Error) -> RoostError {
            error as? RoostError ?? RoostError(.io, "the store cannot be followed", cause: error)
        }

        private func names() throws -> [String] {
            try dictionary.map { [$0] } ?? workspace.dictionaryNames
        }
    }

    /// The queue's entrance, which counts what found no room.
    private final class Outlet: Sendable {
        private let feed: AsyncStream<String>.Continuation
        private let missedCount = Atomic<Int>(0)
        private let endingError = Mutex<RoostError?>(nil)

        init(feed: AsyncStream<String>.Continuation) { self.feed = feed }

        func send(_ event: String) {
            if case .dropped = feed.yield(event) { missedCount.add(1, ordering: .relaxed) }
        }

        /// Why nothing more comes. Told after the queue, in which there may be no room.
        func end(because error: RoostError) { endingError.withLock { $0 = error } }

        var ending: RoostError? { endingError.withLock { $0 } }

        func takeMissed() -> String? {
            let count = missedCount.exchange(0, ordering: .relaxed)
            return count == 0 ? nil : "data: \(ChangeLook.missed(count, in: nil).text)\n\n"
        }
    }
#endif
