import ArgumentParser
import Foundation
import Roost

/// The demo's child that opens the workspace cold: a new process, so that its memory is what
/// opening and reading take.
struct ReaderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reader", abstract: "Opens, reads a few keys, and reports.",
        shouldDisplay: false)

    /// What it reports, as JSON on one line.
    struct Report: Codable {
        var openSeconds: Double
        var replayedBatchCount: Int
        var firstReadSeconds: Double
        var secondReadSeconds: Double
        var readCount: Int
        var coldReadCount: UInt64
        var memoryBeforeOpening: ProcessMemory?
        var memoryAfterOpening: ProcessMemory?
        var memoryAfterReading: ProcessMemory?
    }

    @Argument var path: String
    @Option(help: "How many of the demo's records there are.") var count: Int

    private static let readCount = 100

    func run() async throws {
        let before = ProcessMemory.current()
        let clock = ContinuousClock()
        let begin = clock.now
        let workspace = try await Workspace.open(at: path)
        let opened = clock.now
        let afterOpening = ProcessMemory.current()
        let keys = (0..<Self.readCount).map { $0 * (count / Self.readCount) }
        let first = try clock.measure { try check(keys, in: workspace) }
        let second = try clock.measure { try check(keys, in: workspace) }
        let report = Report(
            openSeconds: (opened - begin) / .seconds(1),
            replayedBatchCount: workspace.recovery.replayedBatchCount,
            firstReadSeconds: first / .seconds(1), secondReadSeconds: second / .seconds(1),
            readCount: keys.count, coldReadCount: workspace.statistics.coldReadCount,
            memoryBeforeOpening: before, memoryAfterOpening: afterOpening,
            memoryAfterReading: ProcessMemory.current())
        try await workspace.close()
        let line = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
        print(line)
    }

    private func check(_ indices: [Int], in workspace: Workspace) throws {
        let records = workspace.dictionary(DemoCommand.structDictionaryName)
        for index in indices {
            let key = DemoCommand.key(index)
            guard try records.value(forKey: key, as: DemoRecord.self) == DemoRecord(index) else {
                throw MissingWrites("\"\(key)\" is not what was written")
            }
        }
    }
}
