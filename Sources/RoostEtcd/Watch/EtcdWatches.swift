#if Etcd
    import RoostIO
    import RoostShared

    /// All watchers of one client, over one stream.
    ///
    /// - Each watcher has a number that is never used again; what comes for another is of one that was cancelled, and for one
    ///   that was never given of a server that gives its own.
    /// - Where the stream breaks, all watchers end with an error, and begin again where they were.
    /// - `openings` counts the streams, so that what comes from an older one is passed over.
    /// - How far the server says that it is counts for a watch only where it says so after it had that watch: `askedCount`
    ///   says how often this stream was asked, and `answeredCount` how often it answered, which it does in that order.
    /// - What a watcher is told was so when the server was asked how far it is, and answered; an answer may have taken its
    ///   way. It is asked one thing at a time: what is asked while a watch is behind is never answered, and of several
    ///   questions nobody would know which one was. `asked` says when it was asked last, `pendingTurns` how many of its
    ///   turns to ask again have come since without an answer.
    /// - A watch begins over the connection that calls use, which has a token that has not run out.
    actor EtcdWatches {
        private struct Watcher {
            let source: SharedEvents.Source
            var revision: UInt64
            var creation: Creation?
            /// When it was asked for.
            let begin = ContinuousClock.now
            /// When the server had no more than what was told; `nil` where nobody knows, as while it tells what was before.
            var heard: ContinuousClock.Instant?
            /// Of an answer that is not whole yet: what was not told.
            var fragments: [SharedChange] = []
        }

        /// When the server told that it has a watch.
        private struct Creation {
            /// The server's when it began to have it.
            let revision: UInt64
            /// How often it had been asked by then how far it is.
            let askedCount: Int
        }

        /// How often the server is asked for a sign of life, and how long one may take.
        private static let askingInterval = Duration.seconds(3)
        private static let silenceLimit = Duration.seconds(10)
        /// How many turns to ask again pass before a question is taken for one that is not answered. Turns rather than a
        /// time, as a process that slept finds the answer in the turn after.
        private static let answerTurns = 1

        private let endpoints: EtcdEndpoints
        private var watchers: [Int64: Watcher] = [:]
        private var nextID: Int64 = 1
        private var opened: Opened?
        private var opening: Task<Opened, any Error>?
        private var openings = 0
        private var asked = ContinuousClock.now
        private var pendingTurns: Int?
        private var askedCount = 0
        private var answeredCount = 0
        private var lastMessage = ContinuousClock.now
        private var isClosed = false

        init(_ endpoints: EtcdEndpoints) { self.endpoints = endpoints }

        func add(
            _ range: SharedKeyRange, after revision: UInt64, _ source: SharedEvents.Source
        ) async {
            let id = nextID
            nextID += 1
            source.onEnd { [weak self] in
                Task { await self?.cancel(id) }
            }
            watchers[id] = Watcher(source: source, revision: revision)
            do {
                let stream = try await openedStream().stream
                // It may have ended while the stream was opened.
                guard watchers[id] != nil else { return }
                stream.send(
                    WatchRequest.create(
                        key: range.lower, rangeEnd: range.upper,
                        // Before 3.5.16, a watch that begins at the compacted revision is not told that what was
                        // removed there is gone. One that begins a revision earlier is.
                        startRevision: max(1, Int64(clamping: revision)), watchID: id
                    ).bytes)
            } catch {
                end(id, error)
            }
        }

        func close() {
            isClosed = true
            opened?.stream.close()
            opened = nil
            endAll(RoostError(.closed, "the workspace was closed"))
        }

        private func cancel(_ id: Int64) {
            guard watchers.removeValue(forKey: id) != nil else { return }
            opened?.stream.send(WatchRequest.cancel(watchID: id).bytes)
        }

        private func end(_ id: Int64, _ error: any Error) {
            watchers.removeValue(forKey: id)?.source.end(error)
        }

        private func endAll(_ error: any Error) {
            let all = watchers
            watchers = [:]
            for watcher in all.values { watcher.source.end(error) }
        }

        // MARK: The stream

        private struct Opened {
            /// What `openings` was when it began.
            let number: Int
            let stream: EtcdStream
            let connection: EtcdConnection
            /// Members of a cluster may be of several versions.
            let tellsProgress: Bool
        }

        private func openedStream() async throws -> Opened {
            if isClosed { throw RoostError(.closed, "the workspace was closed") }
            if let opened {
                let number = openings
                let isCurrent = await endpoints.isCurrent(opened.connection)
                if isCurrent, number == openings, !isClosed { return opened }
                // The connection is closed soon, and its token may have run out: all begin again over another.
                let error = RoostError(
                    .unavailable, "calls use another connection than the watches")
                if number == openings { breakStream(error) }
                throw error
            }
            if let opening { return try checked(try await opening.value) }
            openings += 1
            let number = openings
            let task = Task { try await self.open(number) }
            opening = task
            defer { opening = nil }
            let opened = try checked(try await task.value)
            self.opened = opened
            pendingTurns = nil
            askedCount = 0
            answeredCount = 0
            lastMessage = .now
            Task { await self.keepAsking(number) }
            return opened
        }

        /// A stream that is used yet. It may have broken before those who waited for it go on, of whom the last came behind
        /// that: nobody would tell them that it did.
        private func checked(_ opened: Opened) throws -> Opened {
            guard opened.number == openings else {
                opened.stream.close()
                throw RoostError(.unavailable, "the stream of changes broke")
            }
            guard !isClosed else {
                opened.stream.close()
                throw RoostError(.closed, "the workspace was closed")
            }
            return opened
        }

        private func open(_ number: Int) async throws -> Opened {
            let connection = try await endpoints.connection(
                before: .now + EtcdEndpoints.attemptLimit)
            let (messages, continuation) = AsyncStream<CallHandler.Event>.makeStream()
            let stream: EtcdStream
            let version: EtcdVersion
            do {
                version = try await Self.version(of: connection)
                // A member that is cut off from the others then ends the stream, where it would be silent.
                stream = try await connection.stream(
                    "/etcdserverpb.Watch/Watch", metadata: [("hasleader", "true")]
                ) {
                    continuation.yield($0)
                }
            } catch let failure as RemoteFailure {
                await endpoints.replace(connection)
                throw RoostError(.unavailable, failure.message, cause: failure.cause)
            }
            Task {
                // Messages are taken one after the other, in the order in which they came.
                for await message in messages {
                    if await self.take(message, from: number, connection) {
                        return continuation.finish()
                    }
                }
            }
            return Opened(
                number: number, stream: stream, connection: connection,
                tellsProgress: version.tellsProgress)
        }

        private static func version(of connection: EtcdConnection) async throws -> EtcdVersion {
            let answer: [UInt8]
            do {
                answer = try await connection.call(
                    EtcdMethod.status.rawValue, StatusRequest().bytes,
                    before: .now + EtcdEndpoints.attemptLimit)
            } catch let failure as RemoteFailure where failure.isWithheld {
                return .withheld
            }
            return try EtcdVersion(try StatusResponse(answer[...]).version)
        }

        /// Returns whether the stream has ended.
        private func take(
            _ event: CallHandler.Event, from number: Int, _ connection: EtcdConnection
        ) async -> Bool {
            guard number == openings, !isClosed else { return true }
            lastMessage = .now
            switch event {
            case .message(let bytes):
                do { take(try WatchResponse(bytes[...])) } catch {
                    breakStream(RoostError(.unavailable, "an answer that is none of etcd's"))
                    return true
                }
                return false
            case .ended(let failure):
                breakStream(
                    failure?.refusal
                        ?? RoostError(
                            .unavailable, "the stream of changes ended: \(failure?.message ?? "")"))
                await endpoints.replace(connection)
                return true
            }
        }

        private func breakStream(_ error: RoostError) {
            openings += 1
            opened?.stream.close()
            opened = nil
            endAll(error)
        }

        private func keepAsking(_ number: Int) async {
            while number == openings, !isClosed {
                do { try await Task.sleep(for: Self.askingInterval) } catch { return }
                guard number == openings, opened != nil else { return }
                if ContinuousClock.now - lastMessage > Self.silenceLimit {
                    return breakStream(
                        RoostError(.unavailable, "etcd did not answer on the stream of changes"))
                }
                if let turns = pendingTurns, turns < Self.answerTurns {
                    pendingTurns = turns + 1
                } else {
                    ask()
                }
            }
        }

        private func ask() {
            askedCount += 1
            asked = .now
            pendingTurns = 0
            opened?.stream.send(WatchRequest.progress.bytes)
        }

        // MARK: What comes

        private func take(_ response: WatchResponse) {
            let id = response.watchID
            if response.events.isEmpty, !response.isCanceled, !response.isCreated {
                return takeProgress(response)
            }
            if response.isCanceled, id < 0 { return endUncreated(response.cancelReason) }
            // What it then tells would be told to whoever has the number.
            guard (1..<nextID).contains(id) else {
                return breakStream(
                    RoostError(
                        .unsupportedVersion,
                        "what answers for etcd numbers watches itself, as etcd's gRPC proxy does: the members of the cluster are to be named"
                    ))
            }
            guard watchers[id] != nil else { return }
            if response.isCreated {
                watchers[id]?.creation = Creation(
                    revision: UInt64(clamping: response.header.revision), askedCount: askedCount)
            }
            if response.isCanceled {
                let source = watchers.removeValue(forKey: id)?.source
                guard response.compactRevision > 0 else {
                    source?.end(
                        RoostError(
                            .notPermitted, "etcd ended the watch: \(response.cancelReason)"))
                    return
                }
                // What was removed at the compacted revision itself is gone.
                source?.tell(.compacted(oldest: UInt64(clamping: response.compactRevision) + 1))
                source?.end(nil)
                return
            }
            let told = watchers[id]?.revision ?? 0
            for event in response.events {
                let revision = UInt64(clamping: event.keyValue.modRevision)
                // It began at the revision that it was told, not after it.
                guard revision > told else { continue }
                watchers[id]?.fragments.append(
                    SharedChange(
                        key: event.keyValue.key, value: event.isDelete ? nil : event.keyValue.value,
                        revision: revision))
            }
            tellWhole(id, isLastPart: !response.isFragment)
        }

        /// Tells what has come of whole commits: of the last one more may come with the next part. An answer may have a
        /// thousand commits, which are not to wait for each other.
        private func tellWhole(_ id: Int64, isLastPart: Bool) {
            guard let watcher = watchers[id], let last = watcher.fragments.last else { return }
            let changes = watcher.fragments
            let end =
                isLastPart
                ? changes.count : changes.firstIndex { $0.revision == last.revision } ?? 0
            guard let through = changes[..<end].last?.revision else { return }
            watchers[id]?.fragments = Array(changes[end...])
            watchers[id]?.revision = through
            if watcher.heard == nil, let creation = watcher.creation, through >= creation.revision {
                watchers[id]?.heard = watcher.begin
            }
            watcher.source.tell(
                .changes(Array(changes[..<end]), through: through), at: instantOfEvents(id))
        }

        /// Changes come as they are made, so that what is told with them is as old as what was heard of last. A server that
        /// does not say how far it is says it with them.
        private func instantOfEvents(_ id: Int64) -> ContinuousClock.Instant {
            guard opened?.tellsProgress == true else { return .now }
            return watchers[id]?.heard ?? .now - .seconds(1 << 30)
        }

        /// Older servers do not say which watch they refuse; those that are not refused begin again.
        private func endUncreated(_ reason: String) {
            for (id, watcher) in watchers where watcher.creation == nil {
                end(id, RoostError(.notPermitted, "etcd refused a watch: \(reason)"))
            }
        }

        private func takeProgress(_ response: WatchResponse) {
            guard let opened, opened.tellsProgress else { return }
            let instant = response.watchID < 0 ? asked : .now
            if response.watchID < 0 {
                answeredCount += 1
                pendingTurns = nil
            }
            let revision = UInt64(clamping: response.header.revision)
            var isEarly = false
            for (id, watcher) in watchers
            where (response.watchID < 0 || response.watchID == id) && watcher.fragments.isEmpty
                && watcher.revision <= revision
            {
                guard let creation = watcher.creation else { continue }
                // What it had told before it had the watch was not about it, and may come after it told that it has it.
                guard
                    revision > creation.revision || watcher.revision >= creation.revision
                        || answeredCount > creation.askedCount
                else {
                    isEarly = true
                    continue
                }
                watchers[id]?.revision = revision
                watchers[id]?.heard = instant
                watcher.source.tell(.changes([], through: revision), at: instant)
            }
            // It does not answer while a watch is behind, so that more may have been asked than will be answered.
            if isEarly, pendingTurns == nil { ask() }
        }
    }
#endif
