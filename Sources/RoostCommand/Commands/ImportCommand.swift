import ArgumentParser
import Roost

/// `roost import`: JSON Lines into a workspace.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Reads JSON Lines into a workspace.",
        discussion: """
            Each line is {"dictionary": "…", "key": "…", "value": …}. Lines are written in \
            batches of up to \(ImportCommand.batchCount); a bad line ends the import, is named \
            by its number, and nothing of its batch is written.
            """)

    @OptionGroup var target: WorkspaceArgument
    @Argument(help: "The file to read; - is standard input.", completion: .file())
    var input = "-"

    static let batchCount = 1000
    private static let batchSizeBytes = 8 << 20

    func run() async throws {
        let reader = try LineReader(path: input)
        let count = try await target.withWorkspace(.readWrite) { workspace in
            try await Self.importAll(from: reader, into: workspace)
        }
        printError("\(grouped(count)) records imported")
    }

    /// Writes every line of `reader`; returns how many there were. On disk when it returns.
    static func importAll(from reader: LineReader, into workspace: Workspace) async throws -> Int {
        var progress = ProgressBar(verb: "importing")
        var count = 0
        while true {
            let batch: [RecordLine]
            do { batch = try nextBatch(reader) } catch let failure as Failure {
                progress.clear()
                // What came before the bad batch stays, so the message says how much that is.
                try await workspace.synchronize()
                let message = failure.message ?? "the input could not be read"
                throw Failure(
                    failure.status, "\(message); \(grouped(count)) records before it were imported")
            }
            if batch.isEmpty { break }
            try await workspace.write(durability: .process) { operations in
                for record in batch {
                    operations.setStored(
                        record.value, forKey: record.key,
                        in: workspace.dictionary(record.dictionary))
                }
            }
            count += batch.count
            let total = reader.sizeBytes.map(Double.init)
            progress.update(count: count, fraction: total.map { Double(reader.offsetBytes) / $0 })
        }
        try await workspace.synchronize()
        progress.finish(count: count)
        return count
    }

    private static func nextBatch(_ reader: LineReader) throws -> [RecordLine] {
        var batch: [RecordLine] = []
        let begin = reader.offsetBytes
        while batch.count < batchCount, reader.offsetBytes - begin < batchSizeBytes {
            let parsed = try reader.withNextLine { line -> RecordLine? in
                if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
                    return nil
                }
                do throws(RecordLine.Failure) { return try RecordLine(parsing: line) } catch {
                    throw Failure(.usage, "line \(reader.lineNumber): \(error.reason)")
                }
            }
            // The outer nil is the end, the inner one a blank line.
            guard let parsed else { break }
            if let record = parsed { batch.append(record) }
        }
        return batch
    }
}
