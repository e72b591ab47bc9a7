import ArgumentParser
import Foundation
import Roost
import RoostFormat
import RoostIO

/// `roost backups`: what a series holds.
struct BackupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract:
            "Lists the backups of a series, or what a copy can be restored to, the oldest first.",
        discussion: """
            "new" is what a backup does not share with the one before it. With --verify every file is \
            read and every checksum checked. A backup that the given key does not open, as one of before a change \
            of the key, is "not opened". Exit status 3 where any backup is damaged, else 5 where any was not \
            opened, 1 where there is none.

            In place of a directory stands what a Replica copies to, as roost restore takes it. Each line is a \
            stretch of time: roost restore --at takes any moment of it, and --sequence any of its batches. What was \
            written by another history, after a workspace was put back, has another name under "history".
            """)

    @Argument(
        help: "The directory of the series, s3://bucket/prefix or file:///path.",
        completion: .directory)
    var series: String
    @Flag(help: "Read every file of each backup.") var verify = false
    @OptionGroup var encryption: EncryptionOptions
    @OptionGroup var format: ListFormatOption

    func validate() throws {
        guard let copied = CopiedPlace(series) else { return try refuseAddress(series) }
        try copied.check()
        guard !verify else {
            throw ValidationError("--verify is for a series: a copy is checked by restoring it")
        }
    }

    func run() async throws {
        if let copied = CopiedPlace(series) {
            return try await copied.list(
                encryption: try encryption.encryption(), format: format.format)
        }
        var rows = RowWriter(
            columns: ["number", "date", "sizeBytes", "newBytes", "lastSequence", "state", "path"],
            format: format.format, output: try Output())
        var problems: [RoostError.Code] = []
        let encryption = try encryption.encryption()
        let generations = try Workspace.backups(inSeries: series, encryption: encryption)
        for generation in generations {
            let problem = await problem(of: generation, encryption)
            // A backup to the series may remove it while those before it are read.
            if problem != nil, !FileManager.default.fileExists(atPath: generation.path) { continue }
            if let problem {
                problems.append(problem.code)
                printError(problem.description)
            }
            try rows.write([
                .integer(generation.number), .string(generation.date.formatted(.iso8601)),
                .integer(generation.sizeBytes), .integer(generation.newBytes),
                .integer(generation.lastSequence), .string(state(problem)),
                .string(generation.path),
            ])
        }
        try rows.finish()
        // A key that is another's says nothing of what it does not open.
        if problems.contains(where: { $0 != .wrongKey }) { throw Failure(.damaged, nil) }
        if !problems.isEmpty { throw Failure(.failed, nil) }
        if generations.isEmpty { throw try noSeries() }
    }

    private func state(_ problem: RoostError?) -> String {
        guard let problem else { return verify ? "sound" : "not checked" }
        return problem.code == .wrongKey ? "not opened" : "damaged"
    }

    private func noSeries() throws -> Failure {
        let directory = try PosixFileSystem().openDirectory(at: series, create: false)
        guard try directory.holdsWorkspace else {
            return Failure(
                .notFound, "\(series): there are no backups here, as backup --series makes them")
        }
        return Failure(
            .notFound,
            "\(series): is a workspace or a single backup, and no series; roost verify reads it")
    }

    private func problem(
        of generation: BackupGeneration, _ encryption: WorkspaceEncryption?
    ) async -> RoostError? {
        if let problem = generation.problem { return problem }
        guard verify else { return nil }
        do {
            return try await WorkspaceArgument.withWorkspace(
                generation.path, .readOnly, encryption
            ) { try await VerifyCommand.verify($0) }.damages.first
        } catch {
            return error as? RoostError ?? RoostError(.io, "cannot be read", cause: error)
        }
    }
}
