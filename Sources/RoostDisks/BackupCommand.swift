import ArgumentParser
import Foundation
import Roost
import RoostTestSupport

/// Compares a backup of a store of which a hundredth has changed with the backup before it: at most a
/// twentieth of its bytes, and with `--timed` of its time. Both backups are read whole.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "backup")

    @Argument(help: "A directory, empty.") var directory: String
    @Option(help: "What the store holds.") var mebibytes = 1024
    @Option(help: "How many times a hundredth changes.") var rounds = 3
    @ArgumentParser.Flag(help: "Hold the time against the limit too.") var timed = false
    @Option var seed: UInt64 = 1

    private static let valueSizeBytes = 1000
    private static let partCount = 20

    func run() async throws {
        var random = SeededGenerator(seed: seed)
        let series = "\(directory)/backups"
        let workspace = try await Workspace.open(at: "\(directory)/store")
        let count = mebibytes << 20 / Self.valueSizeBytes
        try await write(0..<count, of: workspace, &random)
        try await workspace.compact()
        let (full, fullDuration) = try await backUp(workspace, series)
        var broken: [String] = []
        var parts: [[String: Any]] = []
        for round in 1...max(1, rounds) {
            try await write(
                (0..<count / 100).map { _ in random.below(count) }, of: workspace, &random)
            let (report, duration) = try await backUp(workspace, series)
            let time = duration / fullDuration
            let bytes = Double(report.copiedBytes) / Double(full.copiedBytes)
            parts.append([
                "bytes": bytes, "time": time, "copiedBytes": report.copiedBytes,
                "seconds": duration / .seconds(1),
            ])
            if bytes * Double(Self.partCount) > 1 { broken.append("round \(round): bytes") }
            if timed, time * Double(Self.partCount) > 1 { broken.append("round \(round): time") }
        }
        try await workspace.close()
        for generation in try Workspace.backups(inSeries: series) {
            let copy = try await Workspace.open(
                at: generation.path, configuration: .init(access: .readOnly))
            let verified = try await copy.verify()
            if !verified.isSound { broken.append("\(generation.path): \(verified.damages)") }
            if try copy.dictionary("values").count != count { broken.append("keys are missing") }
            try await copy.close()
        }
        try report(
            [
                "keys": count, "fullBytes": full.copiedBytes,
                "fullSeconds": fullDuration / .seconds(1), "incremental": parts,
            ], broken: broken)
    }

    private func write(
        _ numbers: some Collection<Int>, of workspace: Workspace, _ random: inout SeededGenerator
    ) async throws {
        let values = workspace.dictionary("values")
        for number in numbers {
            try await values.set(random.bytes(Self.valueSizeBytes), forKey: "key \(number)")
        }
        try await workspace.synchronize()
    }

    private func backUp(
        _ workspace: Workspace, _ series: String
    ) async throws -> (BackupReport, Duration) {
        let clock = ContinuousClock()
        let begin = clock.now
        let report = try await workspace.backup(toSeries: series)
        return (report, clock.now - begin)
    }
}
