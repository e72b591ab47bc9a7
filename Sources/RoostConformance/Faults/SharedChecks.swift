import Roost
import RoostIO
import RoostShared

extension ConformanceCheck where Workspace == SharedWorkspace {
    /// What shared workspaces promise beyond others.
    static var sharedChecks: [ConformanceCheck] {
        [
            ConformanceCheck(
                "more than the engine takes at once is .tooLarge, and nothing of it is made"
            ) {
                context in
                let values = context.dictionary("limits")
                let limits = context.workspace.limits
                let many = (0...limits.operationCount).map { ("k\($0)", $0) }
                try await requireError(.tooLarge, "too many operations") {
                    try await values.setAll(many)
                }
                let large = [UInt8](repeating: 1, count: limits.commitSizeBytes + 1)
                try await requireError(.tooLarge, "too many bytes") {
                    try await values.set(large, forKey: "large")
                }
                let long = String(repeating: "k", count: limits.keySizeBytes + 1)
                try await requireError(.keyTooLarge, "too long a key") {
                    try await values.set(1, forKey: long)
                }
                try requireEqual(try await values.count, 0, "the count")
                let most = (0..<(limits.operationCount - 2)).map { ("k\($0)", $0) }
                try await values.setAll(most)
                try requireEqual(try await values.count, most.count, "the count of as many as fit")
                let fitting = [UInt8](repeating: 1, count: limits.commitSizeBytes - 4096)
                try await values.set(fitting, forKey: "large")
                try requireEqual(
                    try await values.load("large", as: [UInt8].self)?.count, fitting.count, "large")
            },
            ConformanceCheck("what one client was acknowledged, another reads at once") { context in
                for number in 0..<(30 * context.effort) {
                    try await context.dictionary("at-once", of: number).set(number, forKey: "n")
                    let read = try await context.dictionary("at-once", of: number + 1)
                        .load("n", as: Int.self)
                    try requireEqual(read, number, "what the other client reads")
                }
            },
            ConformanceCheck("the engine removes what has expired, and watchers are told") {
                context in
                let values = context.dictionary("swept")
                try await values.set(1, forKey: "a", expiresIn: .seconds(1))
                let start = try await values.loadEntry("a", as: Int.self).version
                let task = Task { () -> DictionaryChange<Int>? in
                    for await change in values.changes(as: Int.self, since: start) { return change }
                    return nil
                }
                let change = try await within(context.patience, "the removal") {
                    await task.cancellableValue
                }
                guard case .removed("a", _)? = change else {
                    throw ConformanceFailure("the change is \(String(describing: change))")
                }
            },
            ConformanceCheck(
                "a value stays for its time, though another was set for as long before"
            ) {
                context in
                let values = context.dictionary("as-long")
                let duration = Duration.seconds(6)
                try await values.set(1, forKey: "before", expiresIn: duration)
                try await Task.sleep(for: .seconds(7))
                let begin = ContinuousClock.now
                try await values.set(1, forKey: "after", expiresIn: duration)
                // Longer than what the engine removes the first value by may be in use.
                try await Task.sleep(for: .seconds(4))
                let isThere = try await values.contains("after")
                // A machine that was away for a while says nothing.
                if ContinuousClock.now - begin < duration {
                    try require(isThere, "a value is gone before its time")
                }
            },
            ConformanceCheck("a scan is of one revision while others write") { context in
                let values = context.dictionary("scan-view")
                let limit = context.workspace.limits.operationCount - 2
                let count = min(100, limit)
                try await values.setAll((0..<count).map { ("k\($0)", 0) })
                let writer = Task {
                    var round = 1
                    while !Task.isCancelled {
                        let now = round
                        try await context.dictionary("scan-view", of: 1).setAll(
                            (0..<count).map { ("k\($0)", now) })
                        round += 1
                    }
                }
                defer { writer.cancel() }
                for _ in 0..<(10 * context.effort) {
                    let seen = try await values.entries(as: Int.self).collected().map(\.value)
                    try requireEqual(seen.count, count, "the number of entries")
                    try requireEqual(Set(seen).count, 1, "the number of rounds in one scan")
                }
                writer.cancel()
                do { try await writer.value } catch let error as RoostError
                    where error.code == .cancelled
                {}
            },
            ConformanceCheck("lost answers are found out about: nothing is made twice or by half") {
                context in
                for (number, rates) in [
                    FaultyEngine.Rates(lostAnswers: 300), .init(lostRequests: 300),
                    .init(lateRequests: 300),
                    .init(
                        lostAnswers: 100, lostRequests: 100, lateRequests: 100, unavailable: 50),
                    .init(lastSpace: 300), .init(removedMarks: 100),
                    .init(lostAnswers: 100, lateRequests: 100, lastSpace: 100),
                ].enumerated() {
                    try await checkFaults(context, rates, number)
                }
            },
            ConformanceCheck("a client whose marks were removed is told nothing that is not so") {
                try await checkRemovedMarks($0)
            },
        ]
    }

    /// One caller, who takes the same mark each time.
    private static func checkRemovedMarks(
        _ context: ConformanceContext<SharedWorkspace>
    ) async throws {
        let engine = FaultyEngine(context.workspace.connection.engine, seed: context.seed)
        let workspace = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: context.workspace.namespace)
        engine.set(.init(removedMarks: 500))
        let values = workspace.dictionary("\(context.prefix)-unmarked")
        let others = context.dictionary("unmarked", of: 1)
        for number in 0..<(20 * context.effort) {
            try await values.set(number, forKey: "set")
            try await values.setAll(["a": number, "b": number])
            try await values.update("counted", as: Int.self) { $0 = ($0 ?? 0) + 1 }
            let entry = try await values.loadEntry("set", as: Int.self)
            try requireEqual(entry.value, number, "what was set")
            try await values.replace(entry, with: -number)
            try await workspace.transaction { attempt in
                let count = try await attempt.load("counted", as: Int.self, in: values)
                try attempt.set(count ?? 0, forKey: "copied", in: values)
            }
            let read = try await others.entries(as: Int.self).collected().map(\.value)
            try requireEqual(
                read, [number, number, number + 1, number + 1, -number], "what another reads")
            if number % 5 == 4 {
                try await values.removeValue(forKey: "a")
                try requireEqual(try await others.contains("a"), false, "whether a is there")
            }
        }
        try await values.removeAll()
        try requireEqual(try await others.count, 0, "the count of what was removed")
    }

    private static func checkFaults(
        _ context: ConformanceContext<SharedWorkspace>, _ rates: FaultyEngine.Rates, _ number: Int
    ) async throws {
        var faulty: [SharedWorkspace] = []
        var engines: [FaultyEngine] = []
        for (index, workspace) in context.workspaces.enumerated() {
            let engine = FaultyEngine(
                workspace.connection.engine, seed: context.seed &+ UInt64(index))
            engines.append(engine)
            faulty.append(
                try await .connect(
                    to: .engine(engine), namespace: workspace.namespace,
                    configuration: .init(callDeadline: .seconds(120))))
        }
        for engine in engines { engine.set(rates) }
        let histories = Histories(
            faulty, prefix: "\(context.prefix)-\(number)", seed: context.seed &+ UInt64(number))
        let length = HistoryLength(callCount: 15 * context.effort)
        for tally in [
            try await histories.lists(length), try await histories.registers(length),
            try await histories.bank(length),
        ] {
            try require(tally.unknown == 0, "\(tally), though the engine could be asked")
        }
    }
}

extension ConformanceSuite where Workspace == SharedWorkspace {
    /// All promises of a shared workspace over an engine.
    ///
    /// - Parameters:
    ///   - effort: how much of what is repeated is done: 1 takes a minute over a real engine.
    ///   - seed: for what is chosen by chance; a new one where it is `nil`.
    ///   - patience: how long a change that has to come is waited for.
    ///   - namespace: where the records are; they are left behind.
    ///   - connecting: which engine; it is connected to twice.
    public static func shared(
        effort: Int = 1, seed: UInt64? = nil, patience: Duration = .seconds(60),
        namespace: String = "conformance",
        connecting target: SharedTarget
    ) -> ConformanceSuite {
        ConformanceSuite(
            // First that calls end, as the others wait for that.
            ConformanceCheck.endingChecks + ConformanceCheck.commonChecks
                + ConformanceCheck.sharedChecks + ConformanceCheck.revisionChecks
                + ConformanceCheck.indexChecks + ConformanceCheck.aggregateChecks
                + ConformanceCheck.followChecks
                + ConformanceCheck.closingChecks,
            effort: effort, seed: seed, patience: patience
        ) {
            let configuration = SharedWorkspace.Configuration(callDeadline: .seconds(30))
            var workspaces: [SharedWorkspace] = []
            for _ in 0..<2 {
                workspaces.append(
                    try await .connect(
                        to: target, namespace: namespace, configuration: configuration))
            }
            return workspaces
        } close: {
            for workspace in $0 { await workspace.close() }
        }
    }
}

extension ConformanceCheck {
    /// What every workspace promises, be it shared or not.
    fileprivate static var commonChecks: [ConformanceCheck] {
        dictionaryChecks + expiryChecks + transactionChecks + watchChecks + historyChecks
    }
}

extension ConformanceSuite where Workspace == Roost.Workspace {
    /// The promises that a workspace in files or in memory has in common with shared ones.
    public static func embedded(
        effort: Int = 1, seed: UInt64? = nil, patience: Duration = .seconds(60),
        opening: @escaping @Sendable () async throws -> Roost.Workspace
    ) -> ConformanceSuite {
        ConformanceSuite(
            ConformanceCheck.commonChecks,
            effort: effort, seed: seed, patience: patience
        ) {
            [try await opening()]
        } close: {
            for workspace in $0 { try await workspace.close() }
        }
    }
}
