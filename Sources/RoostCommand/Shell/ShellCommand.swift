import ArgumentParser
import Foundation
import Roost
import Synchronization

/// `roost shell`: one workspace, line by line.
struct ShellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Reads commands line by line and answers them.",
        discussion: """
            On a terminal with history, kept in ~/.roost_history or where ROOST_HISTORY says (empty \
            for nowhere), and completion of commands, dictionaries and keys by the tabulator key. \
            Of lines that are pasted, those behind one that fails are not run. \
            From a pipe it stops at the first line that fails, with that line's exit status. help \
            lists the commands.
            """)

    @OptionGroup var target: WorkspaceArgument
    @Flag(help: "Change nothing.") var readOnly = false

    func run() async throws {
        if readOnly {
            try await target.withWorkspace(.readOnly, answer)
        } else {
            try refuseReadOnlyMount()
            try await target.withExistingWorkspace(answer)
        }
    }

    /// What the opening for writing would say first names a file of the log, and not what to do.
    private func refuseReadOnlyMount() throws {
        if access(target.workspace, W_OK) != 0, errno == EROFS {
            throw Failure(
                .failed,
                "\(target.workspace): the file system takes no writes: say --read-only to look at it"
            )
        }
    }

    private func answer(_ workspace: Workspace) async throws {
        try await Self.answer(WorkspaceStore(workspace: workspace)) { dictionary, words, word in
            ShellSession.completions(workspace, dictionary, words, word)
        }
    }

    /// Answers line by line, until the end of the input or `exit`.
    ///
    /// - Parameter complete: what may stand in the place of a word; asked for on the editor's own thread.
    static func answer(
        _ store: any RecordStore,
        completing complete:
            @escaping @Sendable (
                _ dictionary: String?, _ words: [String], _ word: String
            ) -> [String]
    ) async throws {
        var session = try await ShellSession(store)
        let dictionary = SharedName()
        dictionary.name.withLock { $0 = session.dictionary }
        let editor = LineEditor(historyFile: Self.historyFile) { words, word in
            complete(dictionary.name.withLock { $0 }, words, word)
        }
        let isTerminal = isatty(STDIN_FILENO) == 1
        while !session.isEnded {
            do {
                guard let line = try await editor.next(prompt: session.prompt) else { break }
                guard isTerminal else {
                    try await session.run(line)
                    continue
                }
                // What stands behind a line of a paste that fails is not run, as it may build on it.
                for command in PastedLines(line).commands where !session.isEnded {
                    try await session.run(command)
                }
            } catch {
                guard isTerminal else { throw error }
                if let failure = Failure(error) {
                    // One without a message has said everything.
                    if let message = failure.message { printError(message) }
                } else {
                    printError("\(error)")
                }
            }
            dictionary.name.withLock { $0 = session.dictionary }
        }
    }

    /// For completion, which the editor asks for on its own thread.
    private final class SharedName: Sendable {
        let name = Mutex<String?>(nil)
    }

    private static var historyFile: String? {
        if let path = ProcessInfo.processInfo.environment["ROOST_HISTORY"] {
            return path.isEmpty ? nil : path
        }
        return FileManager.default.homeDirectoryForCurrentUser
            .appendingPathComponent(".roost_history").path
    }
}
