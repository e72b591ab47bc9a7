import ArgumentParser
import Foundation
import Roost

/// The demo's child that is killed: writes one record after another, and says after each
/// acknowledged write which it was.
struct DemoWriterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-writer", abstract: "Writes until it is killed.", shouldDisplay: false)

    static let dictionaryName = "acknowledged"

    @OptionGroup var target: WorkspaceArgument

    func run() async throws {
        try await target.withWorkspace(.readWrite) { workspace in
            let records = workspace.dictionary(Self.dictionaryName)
            for index in 0..<Int.max {
                try await records.set(
                    DemoRecord(index), forKey: Self.key(index), durability: .process)
                // One line is less than a pipe takes whole: it arrives or it does not.
                try FileHandle.standardOutput.write(contentsOf: Data("\(index)\n".utf8))
            }
        }
    }

    static func key(_ index: Int) -> String { "write-\(index)" }
}
