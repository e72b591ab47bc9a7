import ArgumentParser
import Foundation
import Roost
import RoostEngine

/// Builds the indexes of many objects: at rest, beside two writers, and through kills.
struct IndexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Builds indexes over many objects, beside writers and through kills.",
        discussion: """
            Says how long the building takes at rest and beside two writers, how much slower these are \
            meanwhile than with the indexes complete, and by how much memory grows that no file is \
            behind. Then kills the building again and again, and compares what ends with the objects. \
            Exit status 1 where an index is wrong or was never complete, or where no kill met a building.
            """)

    @Option(help: "How many objects.") var objects = 1_000_000
    @Option(help: "How often the building is killed.") var deaths = 10
    @Option(help: "Where the workspace is made.")
    var directory = FileManager.default.temporaryDirectory.path

    func validate() throws {
        if objects < 1 { throw ValidationError("Without objects nothing is shown.") }
    }

    func run() async throws {
        let path = "\(directory)/roost-index-\(ProcessInfo.processInfo.processIdentifier)"
        defer {
            do { try FileManager.default.removeItem(atPath: path) } catch { print("\(error)") }
        }
        try await fill(path)
        let atRest = try await measure(path, writerCount: 0)
        printLine("at rest: \(atRest)")
        let beside = try await measure(path, writerCount: 2)
        printLine("beside two writers: \(beside)")
        let writes = try await writeRate(path, seconds: min(10, max(2, beside.seconds)))
        let slowdown = writes / max(beside.writesPerSecond, 1)
        printLine(
            String(
                format:
                    "building: %.2f times as long; writers: %.0f/s then, %.0f/s later, %.2f times slower",
                beside.seconds / atRest.seconds, beside.writesPerSecond, writes, slowdown))
        try await drop(path)
        try await buildThroughKills(path, longest: atRest.seconds)
    }

    private func fill(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let items = BuiltItem.repository(workspace, isIndexed: false)
        for first in stride(from: 0, to: objects, by: 2_000) {
            try await items.saveAll((first..<min(objects, first + 2_000)).map { BuiltItem(id: $0) })
        }
        try await workspace.compact()
        try await workspace.close()
    }

    // MARK: Measuring

    private struct Figures: CustomStringConvertible {
        var seconds = 0.0
        var grownBytes = 0
        var writesPerSecond = 0.0
        var description: String {
            String(
                format: "%.1f seconds, %.1f MiB of memory, %.0f writes a second", seconds,
                Double(grownBytes) / 1_048_576, writesPerSecond)
        }
    }

    /// Builds from nothing, and drops the indexes at the end unless writers went on beside it.
    private func measure(_ path: String, writerCount: Int) async throws -> Figures {
        let workspace = try await Workspace.open(at: path)
        let before = AnonymousMemory.bytes
        let items = BuiltItem.repository(workspace, isIndexed: true)
        var figures = Figures()
        let begin = ContinuousClock.now
        let (seconds, peak, writes) = try await withThrowingTaskGroup(of: Int.self) { group in
            let stop = Stop()
            // The writers of a building that throws end too.
            defer { stop.set() }
            for writer in 0..<writerCount {
                group.addTask { try await write(items, writer, until: stop) }
            }
            let watching = Task.detached {
                var peak = 0
                while !stop.isSet {
                    peak = max(peak, AnonymousMemory.bytes)
                    try await Task.sleep(for: .milliseconds(20))
                }
                return peak
            }
            try await items.indexesBuilt()
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            stop.set()
            var writes = 0
            for try await count in group { writes += count }
            return (seconds, try await watching.value, writes)
        }
        figures.seconds = seconds
        figures.grownBytes = max(0, peak - before)
        figures.writesPerSecond = Double(writes) / seconds
        try check(items)
        try await workspace.close()
        if writerCount == 0 { try await drop(path) }
        return figures
    }

    /// What two writers do where the indexes are complete.
    private func writeRate(_ path: String, seconds: Double) async throws -> Double {
        let workspace = try await Workspace.open(at: path)
        let items = BuiltItem.repository(workspace, isIndexed: true)
        try await items.indexesBuilt()
        let stop = Stop()
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            defer { stop.set() }
            for writer in 0..<2 { group.addTask { try await write(items, writer, until: stop) } }
            try await Task.sleep(for: .seconds(seconds))
            stop.set()
            return try await group.reduce(0, +)
        }
        try await workspace.close()
        return Double(count) / seconds
    }

    private func write(
        _ items: Repository<BuiltItem>, _ writer: Int, until stop: Stop
    ) async throws -> Int {
        var random = CrashRandom(seed: UInt64(writer) + 77)
        var count = 0
        while !stop.isSet {
            var item = BuiltItem(id: random.below(objects))
            item.rank = random.below(1_000_000)
            try await items.save(item)
            count += 1
        }
        return count
    }

    private func drop(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        try await BuiltItem.repository(workspace, isIndexed: false).indexesBuilt()
        try await workspace.compact()
        try await workspace.close()
    }

    private func check(_ items: Repository<BuiltItem>) throws {
        let states = try items.indexStates()
        // An index that the catalog does not list has no state.
        guard states.map(\.name) == items.declaredIndexNames, !states.isEmpty else {
            throw CrashFailure("of \(items.declaredIndexNames) there are \(states.map(\.name))")
        }
        for state in states {
            guard case .built = state.progress, state.faults.isEmpty else {
                throw CrashFailure(
                    "index \(state.name) is \(state.progress): \(state.faults.prefix(3))")
            }
        }
    }

    // MARK: Deaths

    /// So many further kills are tried where none has met a building.
    private static let furtherDeathCount = 40

    private func buildThroughKills(_ path: String, longest: Double) async throws {
        var random = CrashRandom(seed: 5)
        // So that all of them together come about to its end.
        var share = longest / Double(max(deaths, 1))
        var killCount = 0
        var buildingCount = 0
        var isBuilt = false
        while killCount < deaths
            || (deaths > 0 && buildingCount == 0 && killCount < deaths + Self.furtherDeathCount)
        {
            // Nothing would be left to be killed in.
            if isBuilt { try await drop(path) }
            let microseconds = random.below(Int(share * 1_500_000) + 1)
            try await killBuilder(path, afterMicroseconds: microseconds)
            killCount += 1
            let states = try await statesBehindKill(path)
            let isBuilding = states.contains { $0.progress == .building }
            isBuilt = !states.isEmpty && states.allSatisfy { $0.progress == .built }
            buildingCount += isBuilding ? 1 : 0
            // This machine builds faster than it did at rest.
            if isBuilt, buildingCount == 0 { share /= 2 }
            let progress = states.map { "\($0.name) \($0.progress)" }.joined(separator: ", ")
            printLine("kill \(killCount) after \(microseconds / 1000) ms: \(progress)")
        }
        if deaths > 0, buildingCount == 0 {
            throw CrashFailure("none of \(killCount) kills met a building")
        }
        let workspace = try await Workspace.open(at: path)
        let items = BuiltItem.repository(workspace, isIndexed: true)
        try await items.indexesBuilt()
        try check(items)
        try await workspace.close()
        printLine("built behind \(killCount) kills, \(buildingCount) of them in it, and right")
    }

    /// Starts a builder and kills it so long after it has begun to build.
    private func killBuilder(_ path: String, afterMicroseconds microseconds: Int) async throws {
        let begun = "\(path).begun"
        let builder = try WriterProcess(["index-builder", path, "--begun", begun])
        while !FileManager.default.fileExists(atPath: begun), builder.isRunning {
            try await Task.sleep(for: .microseconds(300))
        }
        try await Task.sleep(for: .microseconds(microseconds))
        let status = try await builder.kill()
        if FileManager.default.fileExists(atPath: begun) {
            try FileManager.default.removeItem(atPath: begun)
        }
        guard status & 0x7f == SIGKILL else {
            throw CrashFailure("the builder ended by itself, with status \(status)")
        }
    }

    /// How far the killed building had come; what it has is right.
    private func statesBehindKill(_ path: String) async throws -> [IndexState] {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(access: .readOnly))
        let states = try BuiltItem.repository(workspace, isIndexed: true).indexStates()
        try await workspace.close()
        for state in states {
            guard state.faults.isEmpty,
                [IndexState.Progress.building, .built].contains(state.progress)
            else {
                throw CrashFailure(
                    "index \(state.name) is \(state.progress): \(state.faults.prefix(3))")
            }
        }
        return states
    }
}

/// Builds, to be killed.
struct IndexBuilderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index-builder", shouldDisplay: false)

    @Argument var path: String
    @Option(help: "Made when the building begins.") var begun: String

    func run() async throws {
        let workspace = try await Workspace.open(at: path)
        try Data().write(to: URL(fileURLWithPath: begun))
        try await BuiltItem.repository(workspace, isIndexed: true).indexesBuilt()
        try await Task.sleep(for: .seconds(3_600))
    }
}
