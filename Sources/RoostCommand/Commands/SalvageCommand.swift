import ArgumentParser
import Foundation
import Roost

/// `roost salvage`: what can be read of a damaged workspace, into a new one.
struct SalvageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Writes what can be read of a damaged workspace into a new one.",
        discussion: """
            Never changes the source. Until it is complete the target is called TARGET.incomplete; the same \
            command again begins it anew. Lists what could not be read: for each damaged stretch of a \
            file the keys between which its records lie and the sequence numbers of their changes. \
            A key in such a range may be missing in the target, or have an older value, or be back \
            though it was removed. Ends with how much is lost, as far as that is known. Exit status 3 where \
            anything that was promised to survive is lost.
            """)

    @Argument(help: "The damaged workspace's directory.", completion: .directory)
    var source: String
    @Argument(help: "The new workspace's directory, which must not exist.", completion: .directory)
    var target: String
    @OptionGroup var encryption: EncryptionOptions
    @OptionGroup var format: FormatOption

    func validate() throws { for place in [source, target] { try refuseAddress(place) } }

    func run() async throws {
        guard !FileManager.default.fileExists(atPath: target) else {
            throw Failure(.usage, "\(target): is there already; a salvage makes a new workspace")
        }
        let report = try await Self.salvage(
            from: source, to: target, try encryption.encryption())
        try Self.write(report, format)
        if !report.isComplete { throw Failure(.damaged, nil) }
    }

    /// Says how far it is: first the reading, of which only the time is known.
    static func salvage(
        from source: String, to target: String, _ encryption: WorkspaceEncryption?
    ) async throws -> SalvageReport {
        try await LiveProgress.show("salvaging") { progress in
            try await Workspace.salvage(from: source, to: target, encryption: encryption) {
                progress.update(count: $0, fraction: Double($0) / Double(max($1, 1)))
            }
        }
    }

    static func write(_ report: SalvageReport, _ format: FormatOption) throws {
        if format.isJSON {
            try Output.write(json(report))
        } else {
            try Output.write(report.losses.map(text) + [summary(report)])
        }
    }

    private static func summary(_ report: SalvageReport) -> String {
        let state =
            report.losses.isEmpty
            ? "nothing lost"
            : report.isComplete ? "nothing lost that was promised" : lost(report)
        return
            "\(grouped(report.recordCount)) records written, from \(report.fileCount) files; \(state)"
    }

    /// The sum of what stands above it.
    private static func lost(_ report: SalvageReport) -> String {
        var parts: [String] = []
        if report.lostRecordCount > 0 {
            parts.append("up to \(grouped(report.lostRecordCount)) records")
        }
        if report.lostBatchCount > 0 {
            parts.append("\(grouped(report.lostBatchCount)) batches of the log")
        }
        if !report.isLossCounted { parts.append("an unknown number more") }
        return parts.isEmpty ? "see above" : "lost: \(parts.joined(separator: ", "))"
    }

    private static func text(_ loss: SalvageReport.Loss) -> String {
        var text = "\(loss.file)"
        if let offset = loss.offset { text += " at \(offset)" }
        text += ": \(loss.reason)"
        if loss.after != nil || loss.before != nil {
            text += "; keys behind \(name(loss.after)) and before \(name(loss.before))"
        } else if !loss.isTornTail {
            text += "; any key"
        }
        if let sequences = loss.sequences {
            text += "; changes \(sequences.lowerBound) to \(sequences.upperBound)"
        }
        return text
    }

    private static func name(_ place: SalvageReport.Place?) -> String {
        place.map { "\"\($0.key)\" in \"\($0.dictionary)\"" } ?? "any"
    }

    private static func json(_ report: SalvageReport) -> JSONValue {
        func json(_ place: SalvageReport.Place?) -> JSONValue {
            place.map {
                .members(["dictionary": .string($0.dictionary), "key": .string($0.key)])
            } ?? .null
        }
        return .members([
            "isComplete": .bool(report.isComplete),
            "recordCount": .integer(report.recordCount),
            "fileCount": .integer(report.fileCount),
            "lostRecordCount": .integer(report.lostRecordCount),
            "lostBatchCount": .integer(report.lostBatchCount),
            "isLossCounted": .bool(report.isLossCounted),
            "losses": .array(
                report.losses.map { loss in
                    .members([
                        "file": .string(loss.file),
                        "offset": loss.offset.map { .integer($0) } ?? .null,
                        "reason": .string(loss.reason),
                        "after": json(loss.after),
                        "before": json(loss.before),
                        "firstSequence": loss.sequences.map { .integer($0.lowerBound) } ?? .null,
                        "lastSequence": loss.sequences.map { .integer($0.upperBound) } ?? .null,
                        "isTornTail": .bool(loss.isTornTail),
                    ])
                }),
        ])
    }
}
