import Foundation

extension EngineSession {
    private func arguments(_ path: String, reads: Int) -> [String] {
        [
            "--engine", Engine.name, "--path", path, "--keys", String(keyCount), "--reads",
            String(reads),
        ]
    }

    /// This process, which had the store open, opens it again and reads a value: five times, but
    /// for engines that take long. The first of them pays for what the process had not used before.
    mutating func measureReopening(_ path: String) async throws {
        let first = Stretch(.read, [keyCount / 3], workload)
        var latencies: Latencies?
        var milliseconds: [Double] = []
        while milliseconds.count < 5, milliseconds.reduce(0, +) < 200 {
            let begin = ContinuousClock.now
            let engine = try await open(path)
            _ = try await first.run(try engine.makeClient(), latencies: &latencies)
            milliseconds.append(seconds(.now - begin) * 1e3)
            try await engine.close()
        }
        note("first-reopening", milliseconds[0], .milliseconds)
        note("reopen-and-first-value", median(milliseconds), .milliseconds)
    }

    /// A fresh process opens the closed store: what that costs, and reads of cold keys.
    mutating func measureFirstTouch(_ path: String) throws {
        let reads = min(keyCount, 100_000)
        let findings = try ProbeFindings.gather(arguments(path, reads: reads))
        note("first-touch", findings.readsPerSecond)
        note("open-and-first-value", findings.openAndFirstMilliseconds, .milliseconds)
        note("process-start-to-first-value", findings.startToFirstMilliseconds, .milliseconds)
        note("memory-after-open", findings.openMemoryMiB, .mebibytes)
        let few = try ProbeFindings.gather(arguments(path, reads: 1))
        guard few.onePercentMemoryMiB > 0 else { return }
        note("memory-after-reading-1-percent", few.onePercentMemoryMiB, .mebibytes)
    }

    /// A process that fills a store is killed; another opens what it left.
    mutating func openAfterKill(_ path: String) throws {
        let fill = arguments(path, reads: 1) + ["--action", "fill-and-die"]
        let (_, status) = try ProbeFindings.spawn(fill)
        guard status == -SIGKILL else { throw BenchError("the filling process was not killed") }
        let findings = try ProbeFindings.gather(arguments(path, reads: 1))
        note("open-after-kill", findings.openAndFirstMilliseconds, .milliseconds)
        note("open-after-kill-memory", findings.openMemoryMiB, .mebibytes)
        note("open-after-kill-peak-memory", findings.peakMemoryMiB, .mebibytes)
    }
}
