import ArgumentParser
import Foundation

/// What the scripts `full-disks`, `bad-blocks` and `power-cuts` run inside the file systems that they
/// make. Each command prints one line of JSON and ends with 1 where a promise was broken.
@main
struct DisksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roost-disks", abstract: "Stores on full, failing and halted disks.",
        subcommands: [
            FullCommand.self, DamageCommand.self, CutWriterCommand.self, CutCommand.self,
            BackupCommand.self,
        ])
}

struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Prints what was found, and what was broken, as one line.
func report(_ figures: [String: Any], broken: [String] = []) throws {
    var figures = figures
    figures["broken"] = broken
    let data = try JSONSerialization.data(withJSONObject: figures, options: [.sortedKeys])
    FileHandle.standardOutput.write(data + Data("\n".utf8))
    if !broken.isEmpty { throw ExitCode.failure }
}
