import ArgumentParser
import Foundation
import Roost
import RoostIO

/// `roost repair`: what can be read of a damaged workspace takes its place.
struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract:
            "Puts what can be read of a damaged workspace in its place; keeps the damaged one.",
        discussion: """
            Does nothing to a workspace that is sound. Else writes what can be read into \
            WORKSPACE.repaired, checks that, moves the damaged one to WORKSPACE.damaged and the new \
            one in its place, and lets nobody write to it meanwhile. A command that is interrupted \
            leaves the damaged workspace unchanged, under its name or one of these two. A symbolic link stays, \
            and what it leads to is repaired, beside which the other two are. Lists what could not be read, as salvage does. Exit status \
            3 where anything that was promised to survive is lost. Where nothing can be read, it stays as it is. A backup, where there is one, is \
            better: see restore.
            """)

    @OptionGroup var target: WorkspaceArgument
    @OptionGroup var format: FormatOption

    func run() async throws {
        // A link that was renamed would leave the damaged one in its place, for whoever opens it by its own name.
        let path = try Self.resolved(target.workspace)
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
        // Nobody may write to the damaged one before the new one has its name: what was acknowledged would be
        // moved away with it.
        let held = try PosixFileSystem().openDirectory(at: path, create: false)
        try held.lock(exclusive: false)
        let report = try await SalvageCommand.salvage(from: path, to: repaired, encryption)
        // An empty workspace in its place would be taken for a new one, and what puts the damage right, as a copy of the file of
        // keys does, is to be put back here.
        if report.recordCount == 0, !report.isComplete {
            try FileManager.default.removeItem(atPath: repaired)
            try SalvageCommand.write(report, format)
            throw Failure(.damaged, "\(path): nothing of it can be read; it stays as it is")
        }
        let check = try await target.at(repaired).withWorkspace(.readOnly) {
            try await VerifyCommand.verify($0, "checking what was written")
        }
        if let damage = check.damages.first { throw damage }
        try Self.replace(path, by: repaired, keepingItAt: damaged)
        try held.unlock()
        try SalvageCommand.write(report, format)
        printError("the damaged workspace is kept at \(damaged)")
        if !report.isComplete { throw Failure(.damaged, nil) }
    }

    /// Gives what is at `repaired` the name `path`, and what was there the name `damaged`. All are in one directory.
    private static func replace(
        _ path: String, by repaired: String, keepingItAt damaged: String
    ) throws {
        let fileSystem = PosixFileSystem()
        let parent = try fileSystem.openDirectory(at: parentPath(of: path), create: false)
        func rename(_ source: String, to target: String) throws {
            try parent.rename(
                URL(fileURLWithPath: source).lastPathComponent,
                to: URL(fileURLWithPath: target).lastPathComponent)
        }
        // A program that opened a name that is free would make an empty workspace there.
        if try fileSystem.exchange(path, repaired) {
            try rename(repaired, to: damaged)
        } else {
            try rename(path, to: damaged)
            do { try rename(repaired, to: path) } catch {
                try rename(damaged, to: path)
                throw error
            }
        }
        try parent.sync()
    }

    /// Without links on the way.
    private static func resolved(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else {
            throw Failure(.failed, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        return String(cString: resolved)
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
