import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import Roost
import RoostObservability
import RoostShared
import Synchronization
import Testing
import Tracing

@Suite struct SharedObservabilityTests {
    private let logs = InMemoryLogHandler()
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()
    private let engine = FailingEngine()

    private func observability(
        slowThreshold: Duration = .seconds(60)
    ) -> SharedObservability {
        let logs = logs
        return SharedObservability(
            name: "shop", logger: Logger(label: "test") { _ in logs }, metricsFactory: metrics,
            tracer: tracer, slowThreshold: slowThreshold)
    }

    private func connect(_ observability: SharedObservability) async throws -> SharedWorkspace {
        try await .connect(
            to: .engine(engine).observed(by: observability), namespace: "test",
            configuration: .init(callDeadline: .seconds(60)))
    }

    private func total(_ label: String, _ labels: [(String, String)] = []) -> Int64 {
        metrics.counterTotal(label: label, dimensions: [("workspace", "shop")] + labels)
    }

    private func requestCount(_ request: String) throws -> Int {
        try metrics.expectTimer(
            "roost_shared_request_duration_seconds",
            [("workspace", "shop"), ("request", request)]
        ).values.count
    }

    private func lines(_ message: String) -> [Logger.Metadata] {
        logs.entries.filter { $0.message.description == message }.map(\.metadata)
    }

    private func eventually(_ isSo: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while !isSo() {
            try #require(ContinuousClock.now < end, "it does not come to that")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func requestsAreCountedWithWhatTheyCarry() async throws {
        let workspace = try await connect(observability())
        let values = workspace.dictionary("values")
        let written = total("roost_shared_keys_written_total")
        let commits = try requestCount("commit")
        try await values.setAll((0..<5).map { ("k\($0)", $0) })
        let reads = try requestCount("read")
        _ = try await values.load("k1", as: Int.self)
        _ = try await values.load("none", as: Int.self)
        #expect(try requestCount("read") == reads + 2)
        #expect(try requestCount("commit") == commits + 1)
        #expect(try requestCount("connect") == 1)
        #expect(total("roost_shared_keys_written_total") == written + 5)
        let entry = try await values.loadEntry("k1", as: Int.self)
        try await values.set(7, forKey: "k1")
        await #expect(throws: RoostError.self) { try await values.replace(entry, with: 8) }
        #expect(total("roost_shared_conflicts_total") == 1)
        let spans = tracer.finishedSpans.map(\.operationName)
        #expect(spans.contains("roost.shared.read") && spans.contains("roost.shared.commit"))
        #expect(lines("a request to the engine failed").isEmpty)
    }

    @Test func whileNobodyAnswersThatIsSaidOnce() async throws {
        let workspace = try await connect(observability())
        let values = workspace.dictionary("values")
        engine.setFailing(RoostError(.unavailable, "nobody"))
        for _ in 0..<5 {
            await #expect(throws: RoostError.self) { _ = try await values.contains("k") }
        }
        engine.setFailing(nil)
        _ = try await values.contains("k")
        _ = try await values.contains("k")
        let failures = total(
            "roost_shared_failures_total", [("request", "read"), ("code", "unavailable")])
        #expect(failures == 5)
        #expect(lines("the engine does not answer").count == 1)
        #expect(lines("the engine answers again").count == 1)
        try await values.set(1, forKey: "k")
        engine.setFailing(RoostError(.outOfSpace, "full"))
        await #expect(throws: RoostError.self) { try await values.set(1, forKey: "k") }
        let line = try #require(lines("a request to the engine failed").first)
        #expect(line["roost.error_code"] == "outOfSpace")
        #expect(
            total("roost_shared_failures_total", [("request", "commit"), ("code", "outOfSpace")])
                == 1)
    }

    @Test func aSlowRequestIsSaid() async throws {
        let workspace = try await connect(observability(slowThreshold: .zero))
        _ = try await workspace.dictionary("values").contains("k")
        #expect(!lines("a request to the engine was slow").isEmpty)
        #expect(total("roost_shared_slow_requests_total", [("request", "read")]) > 0)
    }

    @Test func watchesAndFollowedDictionariesAreMeasured() async throws {
        let observability = observability()
        let workspace = try await connect(observability)
        try await workspace.dictionary("settings").set(1, forKey: "a")
        let local = try await Workspace.inMemory()
        let settings = try await workspace.follow("settings", in: local)
        observability.collect(settings)
        let labels = [("workspace", "shop"), ("dictionary", "settings")]
        let revision = try metrics.expectMeter("roost_shared_follow_revision", labels).lastValue
        #expect(revision == Double(settings.revision))
        #expect(
            try metrics.expectMeter("roost_shared_follow_lag_seconds", labels).lastValue ?? -1 >= 0)
        let watches = try metrics.expectMeter("roost_shared_watches", [("workspace", "shop")])
        try await eventually { watches.lastValue == 1 }
        await settings.close()
        try await local.close()
        try await eventually { watches.lastValue == 0 }
        #expect(total("roost_shared_watch_breaks_total") == 0)
    }

    /// What the dashboard and the alerts ask for is told under that name.
    @Test func theDashboardAndTheAlertsAskForWhatThereIs() async throws {
        let observability = observability(slowThreshold: .zero)
        let workspace = try await connect(observability)
        let local = try await Workspace.inMemory()
        let settings = try await workspace.follow("settings", in: local)
        observability.collect(settings)
        try await eventually { metrics.meters.contains { $0.label == "roost_shared_watches" } }
        await settings.close()
        try await local.close()
        let names = Set(
            metrics.counters.map(\.label) + metrics.meters.map(\.label)
                + metrics.timers.flatMap { ["\($0.label)_bucket", "\($0.label)_count"] })
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/observability").standardized
        for file in ["shared-dashboard.json", "shared-alerts.yml"] {
            let text = try String(
                contentsOf: directory.appendingPathComponent(file), encoding: .utf8)
            let asked = text.matches(of: /roost_shared_[a-z_]+/).map { String($0.output) }
            #expect(asked.count > 5)
            for name in asked { #expect(names.contains(name), "\(file) asks for \(name)") }
        }
    }
}

/// An engine in memory whose requests fail as long as the test says so.
private final class FailingEngine: SharedEngine {
    private let engine = MemoryEngine()
    private let error = Mutex<RoostError?>(nil)

    func setFailing(_ error: RoostError?) { self.error.withLock { $0 = error } }

    private func check() throws {
        if let error = error.withLock({ $0 }) { throw error }
    }

    var limits: SharedLimits { engine.limits }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        try check()
        return try await engine.read(read, before: deadline)
    }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        try check()
        return try await engine.commit(commit, before: deadline)
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        engine.watch(range, after: revision)
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        try await engine.clockMilliseconds(before: deadline)
    }

    func close() async { await engine.close() }
}
