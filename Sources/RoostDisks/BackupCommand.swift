import ArgumentParser
import Foundation
import Roost
import RoostTestSupport

/// Compares a backup of a store of which a hundredth has changed with the backup before it: at most a
/// twentieth of its bytes, and with `--timed` of its time. Every backup that is kept is read whole, and has the
/// values of its time.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "backup")

    @Argument(help: "A directory, empty.") var directory: String
    @Option(help: "What the store holds.") var mebibytes = 1024
    @Option(help: "How many times a hundredth changes.") var rounds = 3
    @ArgumentParser.Flag(help: "Hold the time against the limit too.") var timed = false
    @Option var seed: UInt64 = 1

    private static let valueSizeBytes = 1000
    private static let partCount = 20
    private static let retention = BackupRetention.newest(7)
    /// So many values of each backup are compared.
    private static let sampleCount = 500

    /// What a backup is to hold.
    private struct Expected {
        var round: Int
        /// The rounds in which some of the keys were written last, by their numbers.
        var rounds: [Int: Int]
    }

    func validate() throws {
        if mebibytes < 1 { throw ValidationError("A store of nothing shows nothing.") }
    }

    func run() async throws {
        var random = SeededGenerator(seed: seed)
        let series = "\(directory)/backups"
        let workspace = try await Workspace.open(at: "\(directory)/store")
        let count = mebibytes << 20 / Self.valueSizeBytes
        // In which round each key was written last.
        var written = [Int](repeating: 0, count: count)
        try await write(0..<count, in: 0, of: workspace)
        try await workspace.compact()
        var expected = [sample(of: written, in: 0, changed: [], &random)]
        let (full, fullDuration) = try await backUp(workspace, series)
        var broken: [String] = []
        var parts: [[String: Any]] = []
        for round in 1...max(1, rounds) {
            let changed = (0..<count / 100).map { _ in random.below(count) }
            for number in changed { written[number] = round }
            try await write(changed, in: round, of: workspace)
            expected.append(sample(of: written, in: round, changed: changed, &random))
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
        broken += try await objections(toSeries: series, expected, keyCount: count)
        try report(
            [
                "keys": count, "fullBytes": full.copiedBytes,
                "fullSeconds": fullDuration / .seconds(1), "incremental": parts,
            ], broken: broken)
    }

    /// What is wrong with the backups: those that are kept are the last of `expected`.
    private func objections(
        toSeries series: String, _ expected: [Expected], keyCount: Int
    ) async throws -> [String] {
        let generations = try Workspace.backups(inSeries: series)
        let wanted = expected.suffix(Self.retention.newestCount)
        guard generations.count == wanted.count else {
            return ["\(generations.count) backups are kept, not \(wanted.count)"]
        }
        var broken: [String] = []
        for (generation, wanted) in zip(generations, wanted) {
            let copy = try await Workspace.open(
                at: generation.path, configuration: .init(access: .readOnly))
            let verified = try await copy.verify()
            if !verified.isSound { broken.append("\(generation.path): \(verified.damages)") }
            if try copy.dictionary("values").count != keyCount { broken.append("keys are missing") }
            if let objection = try objection(to: copy, wanted) {
                broken.append("\(generation.path): \(objection)")
            }
            try await copy.close()
        }
        return broken
    }

    private func objection(to copy: Workspace, _ wanted: Expected) throws -> String? {
        let round = try copy.dictionary("rounds").value(forKey: "round", as: Int.self)
        guard round == wanted.round else {
            return "of round \(wanted.round), and holds \(round.map(String.init) ?? "none")"
        }
        let values = copy.dictionary("values")
        for (number, round) in wanted.rounds {
            let found = try values.value(forKey: "key \(number)", as: [UInt8].self)
            if found != value(number, in: round) { return "key \(number) is not of round \(round)" }
        }
        return nil
    }

    private func value(_ number: Int, in round: Int) -> [UInt8] {
        var generator = SeededGenerator(
            seed: seed &+ UInt64(number) &* 0x2545_f491_4f6c_dd1d &+ UInt64(round) << 48)
        return generator.bytes(Self.valueSizeBytes)
    }

    /// Half of them keys that have just changed, where there are so many.
    private func sample(
        of written: [Int], in round: Int, changed: [Int], _ random: inout SeededGenerator
    ) -> Expected {
        var sample: [Int: Int] = [:]
        for number in changed.prefix(Self.sampleCount / 2) { sample[number] = written[number] }
        for _ in 0..<Self.sampleCount - sample.count {
            let number = random.below(written.count)
            sample[number] = written[number]
        }
        return Expected(round: round, rounds: sample)
    }

    private func write(
        _ numbers: some Collection<Int>, in round: Int, of workspace: Workspace
    ) async throws {
        let values = workspace.dictionary("values")
        for number in numbers {
            try await values.set(value(number, in: round), forKey: "key \(number)")
        }
        try await workspace.dictionary("rounds").set(round, forKey: "round")
        try await workspace.synchronize()
    }

    private func backUp(
        _ workspace: Workspace, _ series: String
    ) async throws -> (BackupReport, Duration) {
        let clock = ContinuousClock()
        let begin = clock.now
        let report = try await workspace.backup(toSeries: series, keeping: Self.retention)
        return (report, clock.now - begin)
    }
}
