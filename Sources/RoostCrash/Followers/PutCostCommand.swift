import ArgumentParser
import Foundation
import Roost

/// What a put costs while other processes follow, and while none does: in short turns, so that what else the
/// machine does is in both. For those without, the readers are halted.
struct PutCostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put-cost",
        abstract: "Measures puts with and without readers in other processes.")

    @Option(help: "Readers, each a process.") var readers = 8
    @Option(help: "Turns of each, a quarter of a second long.") var rounds = 40
    @Flag(
        help: ArgumentHelp(
            "Readers leave the first processor to the writer.",
            discussion:
                "So it is seen what the put pays, and not that many programs run. Takes taskset."))
    var apart = false
    @Option(help: "Where the workspace is made.")
    var directory = FileManager.default.temporaryDirectory.path

    private static let burstCount = 10
    private static let putCount = 2000

    /// Nanoseconds a put: of the clock, and of processors, all threads of the writer's process.
    private struct Cost {
        var wall: [Double] = []
        var processor: [Double] = []

        mutating func add(_ other: Cost) {
            wall += other.wall
            processor += other.processor
        }
    }

    func run() async throws {
        let root =
            "\(directory)/roost-put-cost-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let workspace = try await Workspace.open(
            at: "\(root)/workspace", configuration: .init(durability: .process))
        let running = try (0..<readers).map { number in
            try WriterProcess(
                [
                    "follower", "\(root)/workspace", "--report", "\(root)/reader-\(number)",
                    "--stop", "\(root)/stop", "--follows-only",
                ], through: launcher)
        }
        try await Task.sleep(for: .milliseconds(300))
        var alone = Cost()
        var followed = Cost()
        // The first round is for the pages and the caches. Each begins with the turn that the one before ended
        // with, as the second of two may find other caches than the first.
        for turn in 0..<(rounds + 1) * 2 {
            let isFollowed = (turn + 1) / 2 % 2 == 1
            for reader in running { isFollowed ? reader.goOn() : reader.halt() }
            let cost = try await measure(workspace)
            guard turn > 1 else { continue }
            if isFollowed { followed.add(cost) } else { alone.add(cost) }
        }
        for reader in running { reader.goOn() }
        try Data().write(to: URL(fileURLWithPath: "\(root)/stop"))
        for reader in running { try await reader.waitForEnd() }
        try await workspace.close()
        try FileManager.default.removeItem(atPath: root)
        printLine(
            #"{"readers":\#(readers),"put_ns":{"alone":\#(median(alone.wall)),"#
                + #""followed":\#(median(followed.wall))},"#
                + #""processor_ns":{"alone":\#(median(alone.processor)),"#
                + #""followed":\#(median(followed.processor))}}"#)
    }

    private var launcher: [String] {
        let count = ProcessInfo.processInfo.processorCount
        return apart && count > 1 ? ["/usr/bin/taskset", "-c", "1-\(count - 1)"] : []
    }

    private func measure(_ workspace: Workspace) async throws -> Cost {
        let values = workspace.dictionary("values")
        let keys = (0..<Self.putCount).map { "key \($0)" }
        var cost = Cost()
        // What was asked for before the turn is told in its first burst, which does not count.
        for burst in 0...Self.burstCount {
            let wall = nanoseconds(CLOCK_MONOTONIC)
            let processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
            for key in keys { try await values.set(burst, forKey: key) }
            let wallEnd = nanoseconds(CLOCK_MONOTONIC)
            let processorEnd = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
            // The readers take what they were told.
            try await Task.sleep(for: .milliseconds(20))
            guard burst > 0 else { continue }
            cost.wall.append((wallEnd - wall) / Double(Self.putCount))
            cost.processor.append((processorEnd - processor) / Double(Self.putCount))
        }
        return cost
    }

    private func nanoseconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private func median(_ values: [Double]) -> Double {
        (values.sorted()[values.count / 2] * 10).rounded() / 10
    }
}
