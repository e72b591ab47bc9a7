import ArgumentParser

/// `roost completions`: a script for a shell.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Prints a completion script for bash, zsh or fish.",
        discussion: """
            Completes commands and options, and dictionaries and keys of the workspace on the line.

              bash:  roost completions bash > ~/.local/share/bash-completion/completions/roost
              zsh:   roost completions zsh > ~/.zfunc/_roost
              fish:  roost completions fish > ~/.config/fish/completions/roost.fish
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @Argument(help: "The shell.") var shell: Shell

    func run() throws {
        let kind: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        try Output.write([RoostTool.completionScript(for: kind)])
    }
}
