import ArgumentParser
import Roost

/// `roost verify`: every file, every checksum.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Reads every file and checks every checksum.",
        discussion: "Changes nothing. Exit status 3 where anything is damaged.")

    @OptionGroup var source: WorkspaceArgument
    @OptionGroup var format: FormatOption

    func run() async throws {
        var report: VerificationReport?
        var damages: [RoostError]
        do {
            let checked = try await source.withWorkspace(.readOnly) { try await $0.verify() }
            report = checked
            damages = checked.damages
        } catch let error as RoostError where error.code == .corrupt {
            // Damage that keeps the workspace from opening is what this command looks for.
            damages = [error]
        }
        switch format.format {
        case .json: try Output.write(Self.json(report, damages))
        case .text:
            for damage in damages { printError(damage.description) }
            if damages.isEmpty, let report { try Output.write([Self.text(report)]) }
        }
        if !damages.isEmpty { throw Failure(.damaged, nil) }
    }

    private static func text(_ report: VerificationReport) -> String {
        "sound: \(grouped(report.fileCount)) files, \(grouped(report.sizeBytes)) bytes, "
            + "\(grouped(report.recordCount)) records in snapshots, "
            + "\(grouped(report.batchCount)) batches in the log"
    }

    /// Counts are `null` where the workspace does not open.
    private static func json(_ report: VerificationReport?, _ damages: [RoostError]) -> JSONValue {
        .members([
            "isSound": .bool(damages.isEmpty),
            "fileCount": report.map { .integer($0.fileCount) } ?? .null,
            "sizeBytes": report.map { .integer($0.sizeBytes) } ?? .null,
            "recordCount": report.map { .integer($0.recordCount) } ?? .null,
            "batchCount": report.map { .integer($0.batchCount) } ?? .null,
            "damages": .array(
                damages.map { damage in
                    .members([
                        "code": .string(damage.code.description),
                        "message": .string(damage.message),
                        "file": damage.file.map { .string($0) } ?? .null,
                        "offset": damage.offset.map { .integer($0) } ?? .null,
                    ])
                }),
        ])
    }
}
