import ArgumentParser
import Roost

/// `roost verify`: every file, every checksum, every index.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads every file, checks every checksum, and every index against its objects.",
        discussion: """
            Changes nothing. Exit status 3 where anything is damaged, or an index is wrong: reindex \
            has the program build it anew. Of an index it is checked that each entry is of an object \
            that is there, and each object has its entries; and where stored objects name their \
            fields, that the entries are of what is stored under the names of the index's fields.
            """)

    @OptionGroup var source: WorkspaceArgument
    @OptionGroup var format: FormatOption

    func run() async throws {
        var report: VerificationReport?
        var damages: [RoostError]
        var findings: [IndexCheck.Finding] = []
        do {
            let checked = try await source.withWorkspace(.readOnly) { workspace in
                let report = try await Self.verify(workspace)
                // What is read of damaged files says nothing of an index.
                return (report, report.isSound ? try IndexCheck.findings(workspace) : [])
            }
            report = checked.0
            damages = checked.0.damages
            findings = checked.1
        } catch let error as RoostError where error.code == .corrupt {
            // Damage that keeps the workspace from opening is what this command looks for.
            damages = [error]
        }
        switch format.format {
        case .json, .jsonl: try Output.write(Self.json(report, damages, findings))
        default:
            for damage in damages { printError(damage.description) }
            if damages.isEmpty, let report { try Output.write([Self.text(report)]) }
            try Self.write(findings)
        }
        let isRight = findings.allSatisfy(\.problems.isEmpty)
        if !damages.isEmpty || !isRight { throw Failure(.damaged, nil) }
    }

    /// Says how far it is.
    static func verify(
        _ workspace: Workspace, _ verb: String = "checking"
    ) async throws -> VerificationReport {
        try await LiveProgress.show(verb, unit: "bytes") { progress in
            try await workspace.verify { told in
                let (done, whole) = (told.checkedSizeBytes, told.totalSizeBytes)
                progress.update(
                    count: Int(done), fraction: whole > 0 ? Double(done) / Double(whole) : nil)
            }
        }
    }

    private static func write(_ findings: [IndexCheck.Finding]) throws {
        for finding in findings {
            let name = "index \"\(finding.index.name)\" of \"\(finding.index.dictionary)\""
            for problem in finding.problems { printError("\(name): \(problem); see reindex") }
            guard finding.problems.isEmpty else { continue }
            if let reason = finding.passedOver {
                try Output.write(["\(name): \(reason), not checked"])
                continue
            }
            let compared =
                finding.comparedCount.map { ", compared with \(grouped($0)) objects" } ?? ""
            try Output.write(["\(name): \(grouped(finding.entryCount)) entries\(compared)"])
        }
    }

    static func text(_ report: VerificationReport) -> String {
        "sound: \(grouped(report.fileCount)) files, \(grouped(report.sizeBytes)) bytes, "
            + "\(grouped(report.recordCount)) records in snapshots, "
            + "\(grouped(report.batchCount)) batches in the log"
    }

    /// Counts are `null` where the workspace does not open.
    private static func json(
        _ report: VerificationReport?, _ damages: [RoostError], _ findings: [IndexCheck.Finding]
    ) -> JSONValue {
        .members([
            "isSound": .bool(damages.isEmpty && findings.allSatisfy(\.problems.isEmpty)),
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
            "indexes": .array(
                findings.map { finding in
                    .members([
                        "repository": .string(finding.index.dictionary),
                        "name": .string(finding.index.name),
                        "state": .string(finding.index.state.text),
                        "isChecked": .bool(finding.passedOver == nil),
                        "entryCount": .integer(finding.entryCount),
                        "comparedCount": finding.comparedCount.map { .integer($0) } ?? .null,
                        "problems": .array(finding.problems.map { .string($0) }),
                    ])
                }),
        ])
    }
}
