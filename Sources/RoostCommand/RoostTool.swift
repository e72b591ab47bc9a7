import ArgumentParser
import Foundation
import RoostFormat

/// The command `roost`.
///
/// Parses, runs, and turns whatever is thrown into one line on standard error and an
/// ``ExitStatus``; ArgumentParser's own statuses are not used.
@main
struct RoostTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roost",
        abstract: "Looks into Roost workspaces and changes them.",
        discussion: """
            Values are written as JSON. true and false, text, whole and other numbers are stored \
            as Bool, String, Int and Double; null, arrays and objects as a Codable value. What \
            has no plain JSON form is shown, and read, as an object of one member that names \
            the kind: {"$data": "…"} in base 64, {"$uint8": 7}, {"$json": "…"} and so on.

            roost --cluster etcd://host:port --namespace NAME does get, set, remove, keys, scan, watch, \
            import, export, stat and shell on a shared workspace: roost --cluster --help. roost --version says which roost this is.

            Exit status: 0 done, 1 not found, 2 wrong usage or bad input, 3 damage found, \
            4 locked by another opening, 5 any other failure.
            """,
        version: "roost, unreleased; store format \(Limits.formatVersion)",
        subcommands: [
            GetCommand.self, SetCommand.self, RemoveCommand.self, KeysCommand.self,
            ScanCommand.self, ObjectsCommand.self, WatchCommand.self,
            ShellCommand.self, ImportCommand.self, ExportCommand.self, CopyCommand.self,
            DiffCommand.self,
            BackupCommand.self, RestoreCommand.self, BackupsCommand.self, FollowCommand.self,
            StatCommand.self,
            VerifyCommand.self,
            RepairCommand.self, ReindexCommand.self, RotateKeyCommand.self, SalvageCommand.self,
            CompactCommand.self,
            DumpCommand.self,
            InspectCommand.self, CompletionsCommand.self,
        ])

    static func main() async {
        occupyStandardDescriptors()
        do {
            try requireUnicode()
            var command =
                if let arguments = ClusterTool.arguments(Array(CommandLine.arguments.dropFirst())) {
                    try ClusterTool.parseAsRoot(arguments)
                } else {
                    try parseAsRoot()
                }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Foundation.exit(report(error).rawValue)
        }
    }

    /// A standard stream that is closed would have its number go to the next file that is opened, and a message
    /// would be written into a workspace. In its place comes one that can only fail, but for errors, which get lost.
    private static func occupyStandardDescriptors() {
        for (descriptor, mode) in [
            (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY),
        ] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free, which is this one.
            _ = open("/dev/null", mode)
        }
    }

    /// Swift puts the same mark in the place of all that is not UTF-8: different keys would become one.
    private static func requireUnicode() throws {
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = CommandLine.unsafeArgv[index],
                String(validatingCString: argument) == nil
            else { continue }
            throw Failure(
                .usage, "argument \(index) is not UTF-8, which keys, names and texts are written in"
            )
        }
    }

    private static func report(_ error: any Error) -> ExitStatus {
        if let failure = Failure(error) {
            if let message = failure.message { printError(message) }
            return failure.status
        }
        guard exitCode(for: error) != .success else {
            // Help was asked for.
            do { try Output.write([fullMessage(for: error)]) } catch { return report(error) }
            return .done
        }
        let message = message(for: error)
        let hint = UsageHints.hint(for: message, Array(CommandLine.arguments.dropFirst()))
        printError("\(message)\(hint.map { ": \($0)" } ?? "") (see roost --help)")
        return .usage
    }
}
