import ArgumentParser
import Foundation
import Roost
import RoostIO

/// `roost restore`: a backup becomes a workspace again.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Copies a backup to a new workspace, once every checksum of it holds.",
        discussion: """
            BACKUP is a backup, or a directory of backups, of which the newest is taken. The workspace \
            is there whole or not at all and shares no file with the backup, which stays as it is. Where \
            there is something at TARGET already nothing is done: move it elsewhere first. Exit status 3 \
            where the backup is damaged.

            In place of a directory stands what a Replica copies to: s3://bucket/prefix, with \
            credentials, AWS_REGION and AWS_ENDPOINT_URL from the environment, or file:///path.

            The key is that of the backup, or of a sealed copy. A backup keeps it. What a sealed copy becomes \
            is encrypted with the copy's key too, unless --to-key-file, --to-passphrase-file or --to-plain \
            says otherwise.
            """)

    @Argument(
        help: "The backup's directory, that of a series, s3://bucket/prefix or file:///path.",
        completion: .directory)
    var backup: String
    @Argument(help: "The workspace's directory, which must not exist.", completion: .directory)
    var target: String
    @Option(help: "The number of a backup of the series; else the newest.")
    var generation: UInt64?
    @Option(name: .long, help: "Of a copy: the state of a moment, as 2026-11-20T10:00:00Z.")
    var at: String?
    @Option(name: .long, help: "Of a copy: the state behind the batch of this number.")
    var sequence: UInt64?
    @OptionGroup var encryption: EncryptionOptions
    @OptionGroup var files: RestoredFilesOptions

    func validate() throws {
        if let copied = CopiedPlace(backup) {
            try copied.check()
        } else {
            try refuseAddress(backup)
        }
        try refuseAddress(target)
        if generation != nil, CopiedPlace(backup) != nil {
            throw ValidationError(
                "--generation is for a series of backups: a copy has --at and --sequence")
        }
        if files.areSaid, CopiedPlace(backup) == nil {
            throw ValidationError(
                "a backup keeps its key: --to-key-file, --to-passphrase-file and --to-plain are for copies"
            )
        }
    }

    func run() async throws {
        if let copied = CopiedPlace(backup) {
            return try await copied.restore(
                to: target, at: at, sequence: sequence, try files.keys(ofCopy: encryption))
        }
        if at != nil || sequence != nil {
            throw ValidationError("a backup is of one moment: --at and --sequence are for copies")
        }
        // Before the backup is checked, which may take long.
        guard !FileManager.default.fileExists(atPath: target) else {
            throw Failure(
                .failed, "\(target): there is something here already: restore to a new path")
        }
        let encryption = try encryption.encryption()
        let source = try backupPath(encryption)
        do { try await restore(source, encryption) } catch _
            where source != backup && !FileManager.default.fileExists(atPath: source)
        {
            throw Failure(
                .notFound,
                "\(source): a backup to the series has removed it meanwhile: roost backups lists those that are there"
            )
        } catch let error as RoostError where error.code == .corrupt && source != backup {
            throw Self.pointingToOthers(error)
        }
    }

    private func restore(_ source: String, _ encryption: WorkspaceEncryption?) async throws {
        try await WorkspaceArgument.withWorkspace(source, .readOnly, encryption) { workspace in
            let report = try await VerifyCommand.verify(workspace, "checking the backup")
            if let damage = report.damages.first { throw damage }
            try await BackupCommand.withProgress(verb: "restoring") { progress in
                _ = try await workspace.backup(to: target, progress)
            }
        }
    }

    private func backupPath(_ encryption: WorkspaceEncryption?) throws -> String {
        let generations = try Workspace.backups(inSeries: backup, encryption: encryption)
        guard let generation else {
            guard let newest = generations.last else { return backup }
            return try path(of: newest)
        }
        guard let found = generations.first(where: { $0.number == generation }) else {
            throw Failure(.notFound, "there is no backup \(generation) in \(backup)")
        }
        return try path(of: found)
    }

    private func path(of generation: BackupGeneration) throws -> String {
        if let problem = generation.problem {
            throw problem.code == .corrupt ? Self.pointingToOthers(problem) : problem
        }
        return generation.path
    }

    /// Of a series there may be another that is whole: the newest is not passed over without a word.
    private static func pointingToOthers(_ error: RoostError) -> RoostError {
        var error = error
        error.message +=
            ". Another of the series may be sound: roost backups --verify lists them, and --generation takes one"
        return error
    }
}
