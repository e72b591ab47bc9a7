import Foundation
import Roost

/// The demo's steps, in order. Each leaves a row in the table; a value that is not what was
/// written ends the run as damage.
struct DemoRun {
    let options: DemoCommand
    /// Holds the workspace and the property list.
    let directory: String
    var table = DemoTable()
    var notes: [String] = []
    private var integerSeconds = 0.0
    let clock = ContinuousClock()

    var path: String { "\(directory)/workspace" }

    init(options: DemoCommand, directory: String) {
        self.options = options
        self.directory = directory
    }

    mutating func all() async throws {
        try await write()
        let acknowledged = try killAWriter()
        try await recover(acknowledged)
        try await readCold()
        try compareWithPropertyList()
        notes.append(
            "On disk: allocated blocks, what the log has preallocated included. Resident: of "
                + "this process, and below \"new process\" of that one; anonymous and "
                + "file-backed memory apart.")
        printTable()
    }

    // MARK: Writing

    private mutating func write() async throws {
        announce("reading \(options.fixture)")
        let packages = try PackageLine.all(at: options.fixture)
        var begin = clock.now
        let workspace = try await Workspace.open(at: path)
        try record("open a new workspace", since: begin)
        begin = clock.now
        for package in packages {
            try await workspace.dictionary(package.dictionary).set(
                package.value, forKey: package.key)
        }
        try record("set \(grouped(packages.count)) packages", since: begin, count: packages.count)

        announce("writing \(grouped(options.count)) integers and as many structs, one set each")
        let integers = workspace.dictionary(DemoCommand.integerDictionaryName)
        begin = clock.now
        for index in 0..<options.count {
            try await integers.set(index, forKey: DemoCommand.key(index))
        }
        integerSeconds = seconds(since: begin)
        try record("set \(grouped(options.count)) integers", since: begin, count: options.count)
        let structs = workspace.dictionary(DemoCommand.structDictionaryName)
        begin = clock.now
        for index in 0..<options.count {
            try await structs.set(DemoRecord(index), forKey: DemoCommand.key(index))
        }
        try record("set \(grouped(options.count)) structs", since: begin, count: options.count)
        begin = clock.now
        try await workspace.close()
        try record("close, all on disk", since: begin)
    }

    // MARK: Reading

    private mutating func readCold() async throws {
        announce("reopening in a new process")
        let child = try ChildProcess(["reader", path, "--count", String(options.count)])
        var lines: [String] = []
        while let line = child.nextLine() { lines.append(line) }
        let end = child.wait()
        guard end.status == 0, let line = lines.first else {
            throw MissingWrites("the reading child failed, status \(end.status)")
        }
        let report = try JSONDecoder().decode(
            ReaderCommand.Report.self, from: Data(line.utf8))
        let disk = try allocatedBytes(in: path)
        table.add("new process, before opening", nil, memory: report.memoryBeforeOpening)
        table.add(
            "reopen cold", report.openSeconds, diskBytes: disk, memory: report.memoryAfterOpening)
        table.add(
            "read \(report.readCount) structs, cold", report.firstReadSeconds,
            count: report.readCount, diskBytes: disk, memory: report.memoryAfterReading)
        table.add(
            "read them again, resident", report.secondReadSeconds, count: report.readCount)
        notes.append(
            "The cold opening replayed \(grouped(report.replayedBatchCount)) batches; "
                + "\(grouped(report.coldReadCount)) reads went to snapshots. "
                + "The system's page cache was warm.")
    }

    private mutating func compareWithPropertyList() throws {
        announce("measuring \(options.baselineCount) whole-file property list writes")
        let baseline = try PropertyListBaseline(
            writeCount: options.count, measuredCount: options.baselineCount, directory: directory)
        table.add(
            "whole-file plist, scaled (*)", baseline.scaledSeconds, count: options.count,
            diskBytes: baseline.fileSizeBytes)
        let factor = Int((baseline.scaledSeconds / integerSeconds).rounded())
        notes.append(
            "(*) \(options.baselineCount) of the \(grouped(options.count)) integer sets were "
                + "measured (\(DemoTable.time(baseline.measuredSeconds))), evenly spread over the "
                + "sizes of the growing file, and scaled: \(grouped(factor)) times the time of "
                + "the integers above. Neither waits for the disk at each set.")
    }

    // MARK: What every step uses

    func announce(_ text: String) { printError(text) }

    func printTable() { print((table.lines + [""] + notes).joined(separator: "\n")) }

    private func seconds(since begin: ContinuousClock.Instant) -> Double {
        (clock.now - begin) / .seconds(1)
    }

    /// Adds a step that began at `begin` and ends now.
    mutating func record(
        _ step: String, since begin: ContinuousClock.Instant, count: Int? = nil,
        hasMemory: Bool = true
    ) throws {
        let seconds = seconds(since: begin)
        table.add(
            step, seconds, count: count,
            diskBytes: try allocatedBytes(in: path),
            memory: hasMemory ? ProcessMemory.current() : nil)
    }
}
