import ArgumentParser
import Foundation
import Roost

/// `roost repair`: what can be read of a damaged workspace takes its place.
struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract:
            "Puts what can be read of a damaged workspace in its place; keeps the damaged one.",
        discussion: """
            Does nothing to a workspace that is sound. Else writes what can be read into \
            WORKSPACE.repaired, checks that, moves the damaged one to WORKSPACE.damaged and the new \
            one in its place. A command that is interrupted leaves the damaged workspace under one \
            of the two names, unchanged. Lists what could not be read, as salvage does. Exit status \
            3 where anything that was promised to survive is lost. A backup, where there is one, is \
            better: see restore.
            """)

    @OptionGroup var target: WorkspaceArgument
    @OptionGroup var format: FormatOption

    func run() async throws {
        let path = URL(fileURLWithPath: target.workspace).standardizedFileURL.path
        let (repaired, damaged) = ("\(path).repaired", "\(path).damaged")
        if try await isSound() {
            return format.isJSON
                ? try Output.write(.members(["isSound": .bool(true)]))
                : try Output.write(["sound: nothing to repair"])
        }
        for place in [repaired, damaged] where FileManager.default.fileExists(atPath: place) {
            throw Failure(
                .usage, "\(place): is there already, of an earlier repair: move it elsewhere")
        }
        let encryption = try target.encryption.encryption()
        let report = try await SalvageCommand.salvage(from: path, to: repaired, encryption)
        let check = try await target.at(repaired).withWorkspace(.readOnly) {
            try await VerifyCommand.verify($0, "checking what was written")
        }
        if let damage = check.damages.first { throw damage }
        try FileManager.default.moveItem(atPath: path, toPath: damaged)
        try FileManager.default.moveItem(atPath: repaired, toPath: path)
        try SalvageCommand.write(report, format)
        printError("the damaged workspace is kept at \(damaged)")
        if !report.isComplete { throw Failure(.damaged, nil) }
    }

    /// Whether the workspace opens and every checksum holds.
    private func isSound() async throws -> Bool {
        do {
            return try await target.withWorkspace(.readOnly) {
                try await VerifyCommand.verify($0).isSound
            }
        } catch let error as RoostError where error.code == .corrupt { return false }
    }
}
