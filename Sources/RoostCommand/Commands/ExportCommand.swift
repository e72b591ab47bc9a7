import ArgumentParser
import Roost

/// `roost export`: a workspace as JSON Lines.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a workspace as JSON Lines.",
        discussion: """
            Writes all values as they are at one moment, ordered by dictionary and key, in the \
            form that import reads. Until all is written, the file is called FILE.incomplete, and what \
            was at FILE stays. Exit status 1 where there is no such dictionary.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The file to write; - is standard output.", completion: .file())
    var output = "-"
    @Option(help: "Only this dictionary.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String?

    func run() async throws {
        try await source.withWorkspace(.readOnly) { workspace in
            let store = WorkspaceStore(workspace: workspace)
            try await store.require(dictionary)
            let lines = try Output(path: output)
            var progress = ProgressBar(verb: "exporting", besideList: output == "-")
            var count = 0
            let total = try store.recordCount(of: StoredRange(dictionary: dictionary))
            try workspace.forEachStoredValue(in: dictionary) { dictionary, key, value in
                let record = RecordLine(dictionary: dictionary, key: key, value: value)
                try lines.writeLine(record.json)
                count += 1
                progress.update(
                    count: count, fraction: total.map { Double(count) / Double(max($0, 1)) })
            }
            try lines.finish()
            progress.finish(count: count)
        }
    }
}
