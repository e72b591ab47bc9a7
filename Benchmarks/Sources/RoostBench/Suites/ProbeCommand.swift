import ArgumentParser
import Foundation

/// What a fresh process finds in a store: it is started by the suites.
struct Probe: AsyncParsableCommand {
    enum Action: String, ExpressibleByArgument {
        /// Opens, reads a first key, then keys that were never touched.
        case open
        /// Fills the store and kills itself.
        case fillAndDie = "fill-and-die"
        /// Opens a store of integers and reads all of them, one by one.
        case integers
    }

    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Option var engine: String
    @Option var path: String
    @Option var keys: Int
    @Option var action: Action = .open
    @Option var reads = 100_000
    /// When the parent started this process, on the monotonic clock.
    @Option var startedNanoseconds: UInt64 = 0

    func run() async throws {
        let findings: ProbeFindings?
        switch action {
        case .open: findings = try await EngineRegistry.visit(engine, OpenVisitor(probe: self))
        case .integers: findings = try await readIntegers(engine: engine, path: path, keys: keys)
        case .fillAndDie:
            try await EngineRegistry.visit(engine, FillVisitor(probe: self))
            kill(getpid(), SIGKILL)
            findings = nil
        }
        guard let findings else { throw BenchError("still alive") }
        FileHandle.standardOutput.write(try JSONEncoder().encode(findings))
    }
}

struct ProbeFindings: Codable, Sendable {
    var openAndFirstMilliseconds = 0.0
    /// From the start of the process.
    var startToFirstMilliseconds = 0.0
    var readsPerSecond = 0.0
    /// Memory that is no file's, beyond what the process had before opening.
    var openMemoryMiB = 0.0
    var onePercentMemoryMiB = 0.0
    /// The most that was ever resident, mapped files included.
    var peakMemoryMiB = 0.0
}

extension ProbeFindings {
    /// Starts this program anew, as `probe`.
    static func gather(_ arguments: [String]) throws -> ProbeFindings {
        let (data, status) = try spawn(arguments)
        guard status == 0 else { throw BenchError("the probe failed: \(arguments)") }
        return try JSONDecoder().decode(ProbeFindings.self, from: data)
    }

    /// What it prints, and its status, or the negated number of the signal that killed it.
    static func spawn(_ arguments: [String]) throws -> (Data, Int32) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(
            fileURLWithPath: Bundle.main.executablePath ?? CommandLine.arguments[0])
        process.standardOutput = pipe
        process.arguments =
            ["probe"] + arguments + ["--started-nanoseconds", String(monotonicNanoseconds())]
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let isKilled = process.terminationReason == .uncaughtSignal
        return (data, isKilled ? -process.terminationStatus : process.terminationStatus)
    }
}

/// A clock that all processes share.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

private struct OpenVisitor: EngineVisitor {
    let probe: Probe

    func visit<Engine: KeyValueEngine>(_: Engine.Type) async throws -> ProbeFindings {
        let workload = Workload(keyCount: probe.keys)
        let indices = Array(workload.shuffledIndices().prefix(probe.reads))
        let onePercent = workload.shuffledIndices().prefix(max(1, probe.keys / 100))
        let first = Stretch(.read, Array(indices.prefix(1)), workload)
        let one = Stretch(.read, Array(onePercent), workload)
        let all = Stretch(.read, indices, workload)
        var findings = ProbeFindings()
        let before = memoryKiB("RssAnon") ?? 0
        let begin = ContinuousClock.now
        let engine = try await Engine.open(
            at: probe.path, options: EngineOptions(expectedKeys: probe.keys))
        let client = try engine.makeClient()
        var latencies: Latencies?
        _ = try await first.run(client, latencies: &latencies)
        findings.openAndFirstMilliseconds = seconds(.now - begin) * 1e3
        findings.startToFirstMilliseconds =
            Double(monotonicNanoseconds() - probe.startedNanoseconds) / 1e6
        findings.openMemoryMiB = Double((memoryKiB("RssAnon") ?? 0) - before) / 1024
        findings.peakMemoryMiB = Double(memoryKiB("VmHWM") ?? 0) / 1024
        // One process for each: the reads that are timed are to find every key untouched.
        if probe.reads == 1 {
            _ = try await one.run(client, latencies: &latencies)
            findings.onePercentMemoryMiB = Double((memoryKiB("RssAnon") ?? 0) - before) / 1024
        } else {
            let result = try await runClients(engine, [all])
            findings.readsPerSecond = Double(result.operations) / result.seconds
        }
        // The engine is left as it is: the process ends.
        return findings
    }
}

private struct FillVisitor: EngineVisitor {
    let probe: Probe

    func visit<Engine: KeyValueEngine>(_: Engine.Type) async throws {
        let workload = Workload(keyCount: probe.keys)
        let engine = try await Engine.open(
            at: probe.path, options: EngineOptions(expectedKeys: probe.keys))
        for begin in stride(from: 0, to: probe.keys, by: 100_000) {
            let indices = Array(begin..<min(begin + 100_000, probe.keys))
            _ = try await runClients(engine, [Stretch(.set, indices, workload)])
        }
    }
}
