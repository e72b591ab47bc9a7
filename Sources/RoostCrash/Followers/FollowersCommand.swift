import ArgumentParser
import Foundation
import Roost

/// Readers in processes of their own follow a writer that is killed and started again, and compare what
/// they see with what may be seen.
struct FollowersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "followers",
        abstract: "Kills a writer again and again while other processes read beside it.",
        discussion: """
            The last line is JSON: what the readers saw, and how long after the write they did. Exit \
            status 1 where any saw a batch by half, an older value behind a newer one, or an error; where a \
            watcher was not told of a batch, nor that it had missed some; or where one does not see, once \
            no writer is left, what was written last.
            """)

    @Option(help: "Kills of the writer in all.") var kills = 200
    @Option(help: "How long in all.") var seconds = 600
    @Option(help: "Readers, each a process.") var readers = 8
    @Option(help: "When the writer dies follows from it.") var seed: UInt64?
    @Flag(
        help:
            "An encrypted workspace, by a quick cipher for tests, whose key changes beside readers."
    )
    var encrypted = false
    @Option(help: "Where the workspace is made.")
    var directory = FileManager.default.temporaryDirectory.path

    func run() async throws {
        let seed = seed ?? .random(in: 0..<1_000_000_000)
        printLine(
            "roost-crash followers --kills \(kills) --seconds \(seconds) --seed \(seed)"
                + (encrypted ? " --encrypted" : ""))
        let root =
            "\(directory)/roost-followers-\(seed)-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let path = "\(root)/workspace"
        try await Workspace.open(
            at: path, configuration: .init(encryption: CrashEncryption.encryption(encrypted))
        ).close()
        let running = try (0..<readers).map { number in
            try WriterProcess(
                [
                    "follower", path, "--report", "\(root)/reader-\(number)", "--stop",
                    "\(root)/stop",
                ] + CrashEncryption.arguments(encrypted))
        }
        let began = ContinuousClock.now
        let outcome: Result<(killCount: Int, end: FollowedEnd), any Error>
        do {
            let killCount = try await killWriters(path, running, seed, began)
            outcome = .success((killCount, try await end(of: path)))
        } catch { outcome = .failure(error) }
        let passed = seconds(since: began)
        var told = Data()
        if case .success(let found) = outcome { told = try JSONEncoder().encode(found.end) }
        try told.write(to: URL(fileURLWithPath: "\(root)/stop"), options: .atomic)
        for reader in running { try await reader.waitForEnd() }
        let found = try outcome.get()
        try report(root, found.killCount, found.end, passed)
    }

    func validate() throws {
        if kills < 1 || readers < 1 {
            throw ValidationError("Without kills or readers nothing is shown.")
        }
    }

    /// What a writer finds that the last one, killed, has left.
    private func end(of path: String) async throws -> FollowedEnd {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(encryption: CrashEncryption.encryption(encrypted)))
        let end = try FollowedPlan.newest(in: workspace)
        try await workspace.close()
        return end
    }

    /// How many it has killed.
    private func killWriters(
        _ path: String, _ running: [WriterProcess], _ seed: UInt64,
        _ began: ContinuousClock.Instant
    ) async throws -> Int {
        var random = CrashRandom(seed: seed)
        var killCount = 0
        while killCount < kills, running.allSatisfy(\.isRunning) {
            let writer = try WriterProcess(
                ["followed", path, "--seed", "\(random.next())"]
                    + CrashEncryption.arguments(encrypted))
            // About so long that the kills fill the time.
            let left = Double(seconds) - seconds(since: began)
            let share = max(0.02, left / Double(kills - killCount))
            let wait = share * Double(random.below(2000)) / 1000
            try await Task.sleep(for: .milliseconds(Int(wait * 1000)))
            guard try await writer.kill() & 0x7f == SIGKILL else {
                throw CrashFailure("the writer ended by itself; \(path) is kept")
            }
            killCount += 1
        }
        return killCount
    }

    private func seconds(since begin: ContinuousClock.Instant) -> Double {
        let passed = begin.duration(to: .now)
        return Double(passed.components.seconds) + Double(passed.components.attoseconds) / 1e18
    }

    private func report(
        _ root: String, _ killCount: Int, _ end: FollowedEnd, _ seconds: Double
    ) throws {
        var sum = FollowerReport()
        var omissions: [String] = []
        for number in 0..<readers {
            let file = URL(fileURLWithPath: "\(root)/reader-\(number)")
            let found = try JSONDecoder().decode(
                FollowerReport.self, from: Data(contentsOf: file))
            if let omission = found.omission() {
                omissions.append("reader \(number) \(omission)")
            }
            sum.add(found)
        }
        if omissions.isEmpty, let omission = sum.omission() {
            omissions.append("every reader \(omission)")
        }
        if seconds >= FollowerReport.longSeconds, end.number == 0 {
            omissions.append("nothing was written")
        }
        for problem in sum.problems.prefix(20) + omissions { printLine(problem) }
        let isSound = sum.isSound && omissions.isEmpty
        if isSound { try FileManager.default.removeItem(atPath: root) }
        printLine(
            #"{"kills":\#(killCount),"seconds":\#(Int(seconds)),"readers":\#(readers),"#
                + #""written":\#(end.number),"views":\#(sum.viewCount),"looks":\#(sum.lookCount),"#
                + #""changes":\#(sum.changeCount),"queries":\#(sum.queryCount),"#
                + #""reopenings":\#(sum.openingCount),"missed":\#(sum.missedCount),"#
                + #""torn":\#(sum.tornCount),"stale":\#(sum.staleCount),"#
                + #""untold":\#(sum.untoldCount),"errors":\#(sum.errorCount),"#
                + #""lag_median_ms":\#(sum.lag(0.5)),"lag_p99_ms":\#(sum.lag(0.99))}"#)
        if !isSound { throw ExitCode.failure }
    }
}
