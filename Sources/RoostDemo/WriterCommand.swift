import ArgumentParser
import Foundation
import Roost

/// The demo's child that is killed: several tasks write one record after another, and say after
/// each acknowledged write which it was.
struct WriterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "writer", abstract: "Writes until it is killed.", shouldDisplay: false)

    static let dictionaryName = "acknowledged"
    static let taskCount = 4

    @Argument var workspace: String

    func run() async throws {
        let workspace = try await Workspace.open(at: workspace)
        let records = workspace.dictionary(Self.dictionaryName)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.taskCount {
                group.addTask { try await Self.write(task, to: records) }
            }
            try await group.waitForAll()
        }
    }

    private static func write(_ task: Int, to records: WorkspaceDictionary) async throws {
        for index in 0..<Int.max {
            try await records.set(
                DemoRecord(index), forKey: key(task: task, index: index), durability: .process)
            // One short line: a pipe takes it whole or not at all.
            try FileHandle.standardOutput.write(contentsOf: Data("\(task)\n".utf8))
        }
    }

    static func key(task: Int, index: Int) -> String { "task-\(task)/write-\(index)" }
}
