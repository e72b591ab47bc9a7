import Roost
import RoostIO
import RoostShared

extension ConformanceCheck where Workspace == SharedWorkspace {
    /// That calls end: at their deadline, when they are cancelled, and when the workspace is closed. What does not end is
    /// a broken promise, and not waited for.
    static var endingChecks: [ConformanceCheck] {
        [
            ConformanceCheck("a call ends soon after its deadline") {
                try await checkDeadlines($0)
            },
            ConformanceCheck("a call that is cancelled while it is under way ends soon") {
                try await checkCancellations($0)
            },
        ]
    }

    /// The last, as nothing can be checked after it.
    static var closingChecks: [ConformanceCheck] {
        [
            ConformanceCheck("closing ends watchers, and later calls are .closed") {
                try await checkClosing($0)
            }
        ]
    }

    /// How long after its deadline or its cancellation a call may end, on a machine that has other work for the threads
    /// too; and what it may say then.
    private static var delay: Duration { .seconds(60) }
    private static var endings: [RoostError.Code] {
        [.unavailable, .unknownOutcome, .conflict, .cancelled]
    }

    private static func checkDeadlines(
        _ context: ConformanceContext<SharedWorkspace>
    ) async throws {
        for milliseconds in [0, 1, 5, 50] {
            let hurried = context.workspace.withCallDeadline(.milliseconds(milliseconds))
            let values = hurried.dictionary("\(context.prefix)-deadlines")
            let calls: [(String, @Sendable () async throws -> Void)] = [
                ("a read", { _ = try await values.load("a", as: Int.self) }),
                ("a write", { try await values.set(1, forKey: "a", expiresIn: .seconds(100)) }),
                ("a scan", { _ = try await values.count }),
                (
                    "a transaction",
                    {
                        try await hurried.transaction { attempt in
                            let count = try await attempt.load("b", as: Int.self, in: values) ?? 0
                            try attempt.set(count + 1, forKey: "b", in: values)
                        }
                    }
                ),
            ]
            for (name, call) in calls {
                let what = "the end of \(name) with a deadline of \(milliseconds) ms"
                try await within(delay, what) { try await expectEnding(call) }
            }
        }
    }

    private static func expectEnding(_ call: @Sendable () async throws -> Void) async throws {
        do { try await call() } catch let error as RoostError where endings.contains(error.code) {}
    }

    private static func checkCancellations(
        _ context: ConformanceContext<SharedWorkspace>
    ) async throws {
        let values = context.dictionary("under-way")
        for number in 0..<(20 * context.effort) {
            let key = "k\(number)"
            let writing = Task { try await values.set(1, forKey: key) }
            let reading = Task {
                while !Task.isCancelled { _ = try await values.load(key, as: Int.self) }
            }
            try await Task.sleep(for: .microseconds(200 * (number % 10)))
            writing.cancel()
            reading.cancel()
            try await within(delay, "the end of a read that was cancelled") {
                try await expectEnding { try await reading.value }
            }
            let isUnmade = try await within(delay, "the end of a write that was cancelled") {
                do { try await writing.value } catch let error as RoostError
                    where endings.contains(error.code)
                {
                    return error.code == .cancelled
                }
                return false
            }
            if isUnmade {
                try requireEqual(
                    try await values.contains(key), false, "whether a cancelled write was made")
            }
        }
    }

    private static func checkClosing(
        _ context: ConformanceContext<SharedWorkspace>
    ) async throws {
        let workspace = context.workspace
        let values = context.dictionary("closing")
        try await values.set(1, forKey: "a")
        let start = try await values.loadEntry("a", as: Int.self).version
        let (told, isTold) = AsyncStream<Void>.makeStream()
        let watcher = Task {
            for await _ in values.changes(as: Int.self, since: start) { isTold.yield() }
        }
        try await values.set(2, forKey: "a")
        try await within(context.patience, "the change before closing") {
            for await _ in told { return }
        }
        try await within(delay, "the end of closing") { await workspace.close() }
        try await within(delay, "the end of the watcher") { await watcher.value }
        let calls: [(String, @Sendable () async throws -> Void)] = [
            ("a read", { _ = try await values.load("a", as: Int.self) }),
            ("a write", { try await values.set(3, forKey: "a") }),
            ("a scan", { _ = try await values.count }),
        ]
        for (name, call) in calls {
            try await within(delay, "the end of \(name) after closing") {
                try await requireError(.closed, "\(name) after closing") { try await call() }
            }
        }
        try await within(delay, "the end of a watcher that begins after closing") {
            for await _ in values.changes(as: Int.self, since: start) {}
        }
    }
}
