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
        let script = RoostTool.completionScript(for: kind)
        try Output.write([shell == .bash ? try Self.withoutExpansion(script) : script])
    }

    /// The script for bash, but for what it does with the names and keys of a workspace: `compgen -W` expands words as
    /// the shell expands a line, so that a key `$(rm -r .)` would be run by who asks for completion.
    private static func withoutExpansion(_ script: String) throws -> String {
        let place = "__roost_custom_complete() {"
        let asking = /__roost_add_completions -W "\$\(__roost_custom_complete ([^\n]*)\)"\n/
        guard script.contains(asking), script.contains(place) else {
            throw Failure(.failed, "the library that writes the script writes another one")
        }
        return script.replacing(asking) { "__roost_add_names \($0.1)\n" }
            .replacingOccurrences(of: place, with: addNames + place)
    }

    /// bash takes a line apart at colons and more, so the tool gets the line, and gives what is missing of the last word,
    /// in the quotes that it needs.
    private static let addNames = #"""
        # Names and keys are data: nothing in them is expanded.
        __roost_add_names() {
            compopt +o filenames 2> /dev/null
            local name
            while IFS='' read -r name; do
                [[ -n "${name}" ]] && COMPREPLY+=("${cur}${name}")
            done <<< "$(ROOST_COMPLETION_LINE="${COMP_LINE:0:COMP_POINT}" __roost_custom_complete "${@}")"
        }


        """#
}
