import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import Roost
import RoostObservability
import Testing
import Tracing

/// What a workspace tells, in memory.
struct Seen {
    let logs = InMemoryLogHandler()
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()
    let observability: WorkspaceObservability

    init(slowThreshold: Duration = .seconds(60)) {
        let logs = logs
        observability = WorkspaceObservability(
            name: "app", logger: Logger(label: "test") { _ in logs }, metricsFactory: metrics,
            tracer: tracer, slowThreshold: slowThreshold)
    }

    func lines(_ message: String) -> [Logger.Metadata] {
        logs.entries.filter { $0.message.description == message }.map(\.metadata)
    }

    func total(_ label: String, _ labels: [(String, String)] = []) -> Int64 {
        metrics.counterTotal(label: label, dimensions: [("workspace", "app")] + labels)
    }

    func level(_ label: String) throws -> Double? {
        try metrics.expectMeter(label, [("workspace", "app")]).lastValue
    }
}

func withDirectory(_ body: (String) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("roost-servers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let result = await Result { try await body(url.path) }
    try FileManager.default.removeItem(at: url)
    try result.get()
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

@Suite struct ObservabilityTests {
    @Test func metricsAreWhatTheStatisticsSay() async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory(
            configuration: .init(observer: seen.observability))
        let values = workspace.dictionary("values")
        for number in 0..<100 { try await values.set(number, forKey: "\(number)") }
        try await values.set(1, forKey: "synced", durability: .synced)
        for number in 0..<50 { _ = try values["\(number)", as: Int.self] }
        try await workspace.compact()
        _ = try values["7", as: Int.self]
        for _ in 0..<3 { seen.observability.collect(workspace.statistics) }
        let statistics = workspace.statistics
        #expect(seen.total("roost_batches_written_total") == 101)
        #expect(
            seen.total("roost_log_appended_bytes_total") == Int64(statistics.logBytesAppended))
        #expect(seen.total("roost_flushes_total") == 1)
        #expect(seen.total("roost_syncs_total") == Int64(statistics.syncCount))
        let sources = ["resident", "log", "cold"].map {
            seen.total("roost_reads_total", [("source", $0)])
        }
        #expect(sources.reduce(0, +) == 51)
        #expect(try seen.level("roost_snapshot_bytes") == Double(statistics.snapshotSizeBytes))
        #expect(try seen.level("roost_log_backlog_bytes") == 0)
        #expect(try seen.level("roost_poisoned") == 0)
        #expect(seen.metrics.timers(label: "roost_flush_duration_seconds").first?.values.count == 1)
        let writes = try seen.metrics.expectTimer(
            "roost_operation_duration_seconds", [("workspace", "app"), ("operation", "write")])
        #expect(writes.values.count >= 1 && writes.values.count < 50, "one in 128, and the synced")
        try await workspace.close()
    }

    @Test func moreThatIsDurableThanThereIsLeavesNothingUnsynced() throws {
        let seen = Seen()
        var figures = WorkspaceStatistics()
        figures.lastSequence = 5
        figures.durableSequence = 6
        seen.observability.collect(figures)
        #expect(try seen.level("roost_unsynced_batches") == 0)
        figures.lastSequence = 9
        seen.observability.collect(figures)
        #expect(try seen.level("roost_unsynced_batches") == 3)
    }

    @Test func totalsCountOnceWhatWasCollectedOutOfOrder() {
        let seen = Seen()
        var figures = WorkspaceStatistics()
        for total in [20, 10, 30] as [UInt64] {
            figures.lastSequence = total
            figures.flushCount = total / 10
            seen.observability.collect(figures)
        }
        #expect(seen.total("roost_batches_written_total") == 30)
        #expect(seen.total("roost_flushes_total") == 3)
    }

    @Test func totalsGoOnOverAReopening() async throws {
        try await withDirectory { directory in
            let seen = Seen()
            for _ in 0..<2 {
                let workspace = try await Workspace.open(
                    at: directory, configuration: .init(observer: seen.observability))
                for number in 0..<10 {
                    try await workspace.dictionary("d").set(number, forKey: "\(number)")
                }
                seen.observability.collect(workspace.statistics)
                try await workspace.close()
            }
            #expect(seen.total("roost_batches_written_total") == 20)
            #expect(try seen.level("roost_recovery_replayed_batches") == 10)
        }
    }

    /// An age of zero would say that there is a backup of now.
    @Test func whoHasNoBackupShowsNoAgeOfOne() async throws {
        try await withDirectory { directory in
            let seen = Seen()
            let workspace = try await Workspace.open(
                at: "\(directory)/store", configuration: .init(observer: seen.observability))
            seen.observability.note(
                try Workspace.backups(inSeries: directory).filter { $0.problem == nil })
            seen.observability.collect(workspace.statistics)
            #expect(throws: (any Error).self) { try seen.level("roost_backup_age_seconds") }
            try await workspace.backup(to: "\(directory)/backup")
            let first = try #require(try seen.level("roost_backup_age_seconds"))
            try await Task.sleep(for: .milliseconds(10))
            seen.observability.collect(workspace.statistics)
            let second = try #require(try seen.level("roost_backup_age_seconds"))
            #expect(first >= 0 && second > first && second < 300)
            try await workspace.close()
        }
    }

    /// A first failure is then an increase, as alerts ask for it.
    @Test func failuresOfAFullDiskAreCountedFromZero() async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory(
            configuration: .init(observer: seen.observability))
        for step in ["compaction", "sync", "write"] {
            let counter = try seen.metrics.expectCounter(
                "roost_failures_total",
                [("workspace", "app"), ("step", step), ("code", "outOfSpace")])
            #expect(counter.totalValue == 0)
        }
        seen.observability.writeFailed(RoostError(.outOfSpace, "full"))
        let labels = [("step", "write"), ("code", "outOfSpace")]
        #expect(seen.total("roost_failures_total", labels) == 1)
        try await workspace.close()
    }

    @Test func openingsFlushesAndBackupsAreLogged() async throws {
        try await withDirectory { directory in
            let seen = Seen()
            let workspace = try await Workspace.open(
                at: "\(directory)/store", configuration: .init(observer: seen.observability))
            try await workspace.dictionary("d").set(1, forKey: "a")
            try await workspace.compact()
            try await workspace.backup(to: "\(directory)/backup")
            try await workspace.close()
            let opened = try #require(seen.lines("the workspace is open").first)
            #expect(opened["roost.workspace"] == "app")
            #expect(opened["roost.is_new"] == "true" && opened["roost.replayed_batches"] == "0")
            let flush = try #require(seen.lines("the log was written to snapshots").first)
            #expect(flush["roost.sequence"] == "1" && flush["roost.snapshots"] == "1")
            // The name that it has, and not the one that it had while it was made.
            let path = try #require(seen.lines("a backup is on disk").first?["roost.path"])
            #expect(path.description.hasSuffix("/backup"))
            #expect(seen.lines("the workspace is closed").count == 1)
        }
    }

    @Test func aTornTailIsAWarning() async throws {
        try await withDirectory { directory in
            let workspace = try await Workspace.open(at: "\(directory)/store")
            for number in 0..<50 {
                try await workspace.dictionary("d").set(number, forKey: "\(number)")
            }
            try FileManager.default.copyItem(
                atPath: "\(directory)/store", toPath: "\(directory)/killed")
            try await workspace.close()
            // The last frame, half of it.
            let log = try #require(
                FileManager.default.contentsOfDirectory(atPath: "\(directory)/killed")
                    .first { $0.hasPrefix("log-") })
            let path = "\(directory)/killed/\(log)"
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let end = try #require(bytes.lastIndex { $0 != 0 })
            bytes[end] ^= 0x10
            try bytes.write(to: URL(fileURLWithPath: path))
            let seen = Seen()
            let killed = try await Workspace.open(
                at: "\(directory)/killed", configuration: .init(observer: seen.observability))
            #expect(killed.recovery.tornTails.count == 1)
            let tail = try #require(
                seen.lines("what a crash had left unfinished was cut off the log").first)
            #expect(tail["roost.file"] == "\(log)" && tail["roost.kept_as"] != "-")
            try await killed.close()
        }
    }

    @Test func slowCallsAreLoggedWithTheirCauseAndNotInCrowds() async throws {
        let seen = Seen(slowThreshold: .nanoseconds(1))
        let workspace = try await Workspace.inMemory(
            configuration: .init(observer: seen.observability))
        let begin = ContinuousClock.now
        for number in 0..<200 {
            try await workspace.dictionary("d").set(number, forKey: "a", durability: .synced)
        }
        let lines = seen.lines("a call was slow") + seen.lines("a sync was slow")
        // Ten in ten seconds, which a busy machine may need several times.
        let periodCount = 1 + Int((ContinuousClock.now - begin) / .seconds(10))
        #expect((1...(10 * periodCount)).contains(lines.count))
        #expect(
            seen.total("roost_slow_operations_total", [("operation", "write"), ("cause", "sync")])
                == 200)
        try await workspace.close()
    }

    @Test func spansAreChildrenOfTheCallers() async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory(
            configuration: .init(observer: seen.observability))
        let values = workspace.dictionary("values")
        try await values.set("old", forKey: "cold")
        try await workspace.compact()
        let parent = seen.tracer.startAnySpan("request")
        struct Failure: Error {}
        try await ServiceContext.withValue(parent.context) {
            try await workspace.transaction { try $0.set(1, forKey: "a", in: values) }
            _ = try await values.load("cold", as: String.self)
            try await values.set(2, forKey: "a", durability: .synced)
            try await workspace.synchronize()
            await #expect(throws: Failure.self) {
                try await workspace.transaction { _ in throw Failure() }
            }
        }
        parent.end()
        let spans = seen.tracer.finishedSpans
        let request = try #require(spans.first { $0.operationName == "request" })
        let own = spans.filter { $0.parentSpanID == request.spanID }
        #expect(
            own.map(\.operationName) == [
                "roost.transaction", "roost.load", "roost.write", "roost.synchronize",
                "roost.transaction",
            ])
        #expect(own.map { $0.errors.count } == [0, 0, 0, 0, 1])
        #expect(own[1].attributes.get("roost.cause") == "cold")
        try await workspace.close()
    }

    @Test func watchersAndHowFarBehindTheyAreIsSeen() async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory(
            configuration: .init(observer: seen.observability))
        let values = workspace.dictionary("values")
        let changes = values.changes(as: Int.self)
        var iterator = changes.makeAsyncIterator()
        for number in 0..<5 { try await values.set(number, forKey: "\(number)") }
        seen.observability.collect(workspace.statistics)
        #expect(try seen.level("roost_watchers") == 1)
        #expect(try seen.level("roost_watcher_lag_events") == 5)
        for _ in 0..<5 { _ = await iterator.next() }
        seen.observability.collect(workspace.statistics)
        #expect(try seen.level("roost_watcher_lag_events") == 0)
        try await workspace.close()
    }
}
