import Foundation
import Roost

/// The demo's crash, and what is left after it.
extension DemoRun {
    /// Lets a child write and kills it; returns how many writes of each of its tasks it said
    /// were acknowledged.
    mutating func killAWriter() throws -> [Int] {
        announce("killing a child that writes")
        let begin = clock.now
        let child = try ChildProcess(["writer", path])
        var acknowledged = Array(repeating: 0, count: WriterCommand.taskCount)
        var total = 0
        while let line = child.nextLine() {
            guard let task = Int(line), acknowledged.indices.contains(task) else {
                throw DemoFailure("the writing child said \"\(line)\"")
            }
            acknowledged[task] += 1
            total += 1
            // It goes on writing while the signal is on its way, and what it still
            // acknowledges is read here and counts.
            if total == options.killAfter { child.killNow() }
        }
        let end = child.wait()
        guard end.wasKilled else {
            throw DemoFailure("the writing child ended by itself, status \(end.status)")
        }
        try record(
            "child sets structs until killed", since: begin, count: total, hasMemory: false)
        return acknowledged
    }

    /// Reopens, checks every acknowledged write, compacts and verifies.
    mutating func recover(_ acknowledged: [Int]) async throws {
        let total = acknowledged.reduce(0, +)
        announce("reopening and checking \(grouped(total)) acknowledged writes")
        var begin = clock.now
        let workspace = try await Workspace.open(at: path)
        try record("reopen after the kill", since: begin)
        begin = clock.now
        let missingCount = try countMissing(acknowledged, in: workspace)
        try record("check \(grouped(total)) acknowledged", since: begin, count: total)
        note(workspace, total: total, missingCount: missingCount)
        guard missingCount == 0 else {
            printTable()
            throw MissingWrites("\(grouped(missingCount)) acknowledged writes are missing")
        }
        announce("compacting")
        begin = clock.now
        try await workspace.compact()
        try record("compact", since: begin)
        begin = clock.now
        let report = try await workspace.verify()
        try record("verify every checksum", since: begin)
        if let damage = report.damages.first { throw damage }
        let foundCount = try workspace.dictionary(WriterCommand.dictionaryName).count
        notes.append("After compaction \(grouped(foundCount)) of the child's writes are there.")
        try await workspace.close()
    }

    private func countMissing(_ acknowledged: [Int], in workspace: Workspace) throws -> Int {
        let records = workspace.dictionary(WriterCommand.dictionaryName)
        var missingCount = 0
        for (task, count) in acknowledged.enumerated() {
            for index in 0..<count {
                let key = WriterCommand.key(task: task, index: index)
                let found = try records.value(forKey: key, as: DemoRecord.self)
                if found != DemoRecord(index) { missingCount += 1 }
            }
        }
        return missingCount
    }

    private mutating func note(_ workspace: Workspace, total: Int, missingCount: Int) {
        let recovery = workspace.recovery
        notes.append(
            "Killed with SIGKILL while \(WriterCommand.taskCount) tasks wrote: "
                + "\(grouped(total)) writes were acknowledged, \(grouped(missingCount)) of them "
                + "are missing.")
        notes.append(
            "Recovery replayed \(grouped(recovery.replayedBatchCount)) batches and cut "
                + "\(grouped(recovery.tornTails.count)) torn tails.")
    }
}
