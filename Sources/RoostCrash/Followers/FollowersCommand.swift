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
            status 1 where any saw a batch by half, an older value behind a newer one, or an error.
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
        let outcome: Result<Int, any Error>
        do { outcome = .success(try await killWriters(path, running, seed, began)) } catch {
            outcome = .failure(error)
        }
        try Data().write(to: URL(fileURLWithPath: "\(root)/stop"))
        for reader in running { try await reader.waitForEnd() }
        try report(root, try outcome.get(), seconds(since: began))
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
            guard writer.isRunning else {
                _ = try await writer.kill()
                throw CrashFailure("the writer ended by itself; \(path) is kept")
            }
            _ = try await writer.kill()
            killCount += 1
        }
        return killCount
    }

    private func seconds(since begin: ContinuousClock.Instant) -> Double {
        let passed = begin.duration(to: .now)
        return Double(passed.components.seconds) + Double(passed.components.attoseconds) / 1e18
    }

    private func report(_ root: String, _ killCount: Int, _ seconds: Double) throws {
        var sum = FollowerReport()
        for number in 0..<readers {
            let file = URL(fileURLWithPath: "\(root)/reader-\(number)")
            sum.add(try JSONDecoder().decode(FollowerReport.self, from: Data(contentsOf: file)))
        }
        for problem in sum.problems.prefix(20) { printLine(problem) }
        if sum.isSound { try FileManager.default.removeItem(atPath: root) }
        printLine(
            #"{"kills":\#(killCount),"seconds":\#(Int(seconds)),"readers":\#(readers),"#
                + #""views":\#(sum.viewCount),"looks":\#(sum.lookCount),"#
                + #""changes":\#(sum.changeCount),"queries":\#(sum.queryCount),"#
                + #""reopenings":\#(sum.openingCount),"missed":\#(sum.missedCount),"#
                + #""torn":\#(sum.tornCount),"stale":\#(sum.staleCount),"#
                + #""errors":\#(sum.errorCount),"#
                + #""lag_median_ms":\#(sum.lag(0.5)),"lag_p99_ms":\#(sum.lag(0.99))}"#)
        if !sum.isSound { throw ExitCode.failure }
    }
}

/// What a reader saw.
struct FollowerReport: Codable, Sendable {
    var viewCount = 0
    var lookCount = 0
    var changeCount = 0
    var queryCount = 0
    var openingCount = 0
    /// Changes that a watcher was told that it missed.
    var missedCount = 0
    var tornCount = 0
    var staleCount = 0
    var errorCount = 0
    var problems: [String] = []
    /// How many changes came so late: by halves of a tenth of a millisecond, doubled each time.
    var lagCounts = [Int](repeating: 0, count: 64)

    var isSound: Bool { tornCount + staleCount + errorCount == 0 && changeCount > 0 }

    private static let stepsPerDoubling = 4.0

    mutating func addLag(nanoseconds: UInt64) {
        let steps = log2(max(Double(nanoseconds) / 50_000, 1)) * Self.stepsPerDoubling
        lagCounts[min(Int(steps), lagCounts.count - 1)] += 1
    }

    /// In milliseconds, rounded up by a fifth at the most.
    func lag(_ share: Double) -> Double {
        let wanted = Int(Double(lagCounts.reduce(0, +)) * share)
        var count = 0
        for (index, lags) in lagCounts.enumerated() {
            count += lags
            if count > wanted {
                let milliseconds = 0.05 * exp2(Double(index + 1) / Self.stepsPerDoubling)
                return (milliseconds * 1000).rounded() / 1000
            }
        }
        return 0
    }

    mutating func add(_ other: FollowerReport) {
        viewCount += other.viewCount
        lookCount += other.lookCount
        changeCount += other.changeCount
        queryCount += other.queryCount
        openingCount += other.openingCount
        missedCount += other.missedCount
        tornCount += other.tornCount
        staleCount += other.staleCount
        errorCount += other.errorCount
        problems += other.problems
        for index in lagCounts.indices { lagCounts[index] += other.lagCounts[index] }
    }
}
