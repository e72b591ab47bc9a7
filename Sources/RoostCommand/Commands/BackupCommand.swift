import ArgumentParser
import Roost

/// `roost backup`: a copy of one moment.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies all that a workspace holds into a new one, or into a series of them.",
        discussion: """
            The copy is there whole or not at all, and on disk when the command returns. Every \
            checksum of what is copied is checked, in the copy. Until it is complete it is called \
            TARGET.incomplete; the same command again goes on from where it was stopped.

            With --series, TARGET is a directory of backups: each new one shares by hard links what has \
            not changed since the one before, and those that no --keep rule keeps are removed. What is shared, as \
            with --after too, is not read, but for --verify: then a file that is damaged in the backup \
            before is copied anew, and the exit status is 3, though the new backup is sound.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The copy's directory, which must not exist.", completion: .directory)
    var target: String
    @Option(help: "An earlier backup to share what has not changed with.", completion: .directory)
    var after: String?
    @Flag(help: "Add to the backups in TARGET.") var series = false
    @Option(help: "With --series: keep so many of the newest; 7 unless said.") var keep: Int?
    @Option(help: "With --series: keep the newest of so many days.") var keepDaily = 0
    @Option(help: "With --series: keep the newest of so many weeks.") var keepWeekly = 0
    @Flag(help: "Read what is shared too; what is damaged of it is copied anew.") var verify = false
    @OptionGroup var format: FormatOption

    func validate() throws {
        if keep ?? 1 < 1 || keepDaily < 0 || keepWeekly < 0 {
            throw ValidationError("keep at least the newest backup")
        }
        if !series && (keep != nil || keepDaily > 0 || keepWeekly > 0) {
            throw ValidationError("--keep, --keep-daily and --keep-weekly are for --series")
        }
        if series && after != nil {
            throw ValidationError("a series knows itself what its last backup is")
        }
        try refuseAddress(target)
        if let after { try refuseAddress(after) }
    }

    func run() async throws {
        let report = try await source.withWorkspace(.readOnly) { workspace in
            try await Self.withProgress(verb: "backing up") { progress in
                guard series else {
                    return try await workspace.backup(
                        to: target, after: after, verifyingShared: verify, progress)
                }
                let retention = BackupRetention(
                    newestCount: keep ?? 7, dailyCount: keepDaily, weeklyCount: keepWeekly)
                return try await workspace.backup(
                    toSeries: target, keeping: retention, verifyingShared: verify, progress)
            }
        }
        try Output.write(
            format.isJSON
                ? [Self.json(report).text] : Self.lines(report, areSharedVerified: verify))
        if !report.damagedPaths.isEmpty {
            throw Failure(
                .damaged,
                "the backup before is damaged; the new one is sound (\(report.damagedPaths.count) files copied anew)"
            )
        }
    }

    static func withProgress<Result>(
        verb: String,
        _ body: (@escaping @Sendable (UInt64, UInt64) -> Void) async throws -> Result
    ) async throws -> Result {
        try await LiveProgress.show(verb, unit: "bytes") { progress in
            try await body { done, whole in
                progress.update(
                    count: Int(done), fraction: whole > 0 ? Double(done) / Double(whole) : nil)
            }
        }
    }

    private static func lines(_ report: BackupReport, areSharedVerified: Bool) -> [String] {
        [
            "\(report.path): \(grouped(report.sizeBytes)) bytes up to batch \(report.lastSequence), "
                + "\(grouped(report.copiedBytes)) copied and checked, "
                + "\(grouped(report.sharedBytes)) shared"
                + (report.sharedBytes == 0
                    ? ", " : areSharedVerified ? " and checked, " : " and not read, ")
                + "\(grouped(report.continuedBytes)) from an earlier call"
        ]
            + report.damagedPaths.map { "damaged in the backup before: \($0)" }
            + report.removedPaths.map { "removed \($0)" }
    }

    private static func json(_ report: BackupReport) -> JSONValue {
        .members([
            "path": .string(report.path), "lastSequence": .integer(report.lastSequence),
            "sizeBytes": .integer(report.sizeBytes), "copiedBytes": .integer(report.copiedBytes),
            "sharedBytes": .integer(report.sharedBytes),
            "continuedBytes": .integer(report.continuedBytes),
            "damaged": .array(report.damagedPaths.map { .string($0) }),
            "removed": .array(report.removedPaths.map { .string($0) }),
        ])
    }
}
