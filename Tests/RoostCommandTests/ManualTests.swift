import Foundation
import Testing

/// docs/roost.1 is written by scripts/manual, and says what the command takes.
@Suite struct ManualTests {
    private struct Dump: Decodable {
        struct Command: Decodable {
            struct Argument: Decodable {
                struct Name: Decodable {
                    var kind: String
                    var name: String
                }
                var names: [Name]?
                var abstract: String?
                var shouldDisplay: Bool
            }
            var commandName: String
            var abstract: String?
            var shouldDisplay: Bool
            var arguments: [Argument]?
            var subcommands: [Command]?
        }
        var command: Command
    }

    @Test func theManualHasEveryCommandWithEveryOption() async throws {
        let dump = try await Tool.run("--experimental-dump-help")
        let root = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("docs/roost.1")
        let manual = try String(contentsOf: file, encoding: .utf8).replacing("\\-", with: "-")
        let sections = manual.components(separatedBy: "\n.SS ")
        let commands = (root.subcommands ?? []).filter {
            $0.shouldDisplay && $0.commandName != "help"
        }
        #expect(commands.count > 15)
        for command in commands {
            let section = try #require(
                sections.first { $0.hasPrefix(command.commandName + "\n") },
                "no section of \(command.commandName): make manual")
            #expect(section.contains(command.abstract ?? ""), "\(command.commandName): make manual")
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                for name in argument.names ?? [] where name.kind == "long" {
                    // Those of the command itself.
                    guard !["help", "version"].contains(name.name) else { continue }
                    #expect(
                        section.contains("--" + name.name),
                        "no --\(name.name) of \(command.commandName): make manual")
                }
            }
        }
        #expect(sections.count == commands.count + 1, "a command that is no more: make manual")
    }
}
