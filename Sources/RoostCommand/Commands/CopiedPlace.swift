import ArgumentParser
import Foundation
import Roost

#if Replica
    import RoostReplica
#endif

/// What `roost restore`, `roost backups` and `roost rotate-key` take besides a directory, and `roost follow`: a place that a `Replica` copies to.
struct CopiedPlace {
    /// `s3://bucket/prefix`, or `file:///path` for a directory of copies.
    let address: String

    /// `nil` where `argument` is a path.
    init?(_ argument: String) {
        guard argument.hasPrefix("s3://") || argument.hasPrefix("file://") else { return nil }
        address = argument
    }

    /// - Throws: `ValidationError` where it is no address of a directory: what else it says would be left out, and
    ///   another directory read.
    func check() throws {
        guard address.hasPrefix("s3://") else {
            _ = try directory()
            return
        }
        #if Replica
            do { _ = try S3Storage.Location(address) } catch let error as RoostError {
                throw ValidationError(error.message)
            }
        #endif
    }

    /// Of `file:///path`.
    private func directory() throws -> String {
        guard let parts = URLComponents(string: address), parts.scheme == "file",
            ["", "localhost"].contains(parts.host ?? ""), parts.user == nil, parts.port == nil,
            parts.query == nil, parts.fragment == nil, parts.path.hasPrefix("/")
        else {
            throw ValidationError(
                "not an address as file:///path: \(address). A path follows file://, with %23 for #, %3F for ? and %25 for %"
            )
        }
        return parts.path
    }

    /// With which keys.
    struct Keys: Sendable {
        /// Of a sealed copy.
        var copy: WorkspaceEncryption?
        /// Of the new workspace, where it is another one.
        var target: WorkspaceEncryption?
        /// The new workspace is not encrypted.
        var isPlain: Bool
    }

    #if Replica
        /// Restores to `target`, as the options say, and tells what it brought.
        func restore(
            to target: String, at moment: String?, sequence: UInt64?, _ keys: Keys
        ) async throws {
            let files: RestoredFiles =
                keys.isPlain ? .plain : keys.target.map { .encrypted($0) } ?? .asCopy
            let report = try await LiveProgress.show("restoring") { _ in
                try await naming {
                    try await Replica.restore(
                        from: try storage(), encryption: keys.copy, to: target, files: files,
                        at: try Self.point(moment, sequence))
                }
            }
            var text = "restored to batch \(report.lastSequence)"
            if let moment = report.moment { text += ", of \(moment.ISO8601Format())" }
            text += ": \(VerifyCommand.text(report.verification))"
            try Output.write([text])
            for damage in report.passedDamages {
                try Output.write([
                    "the copy is damaged, where this restore did not need it: \(damage)"
                ])
            }
            if report.isBeyondCopy {
                try Output.write([
                    moment == nil
                        ? "the copy has begun another history, which has no base yet: this is the last state before it, and lacks what was committed since"
                        : "the moment lies behind what was copied until then: this is the last state before it"
                ])
            }
        }

        /// Lists what can be restored.
        func list(encryption: WorkspaceEncryption?, format: OutputFormat) async throws {
            let contents = try await naming {
                try await Replica.contents(of: try storage(), encryption: encryption)
            }
            var rows = RowWriter(
                columns: [
                    "from", "to", "firstSequence", "lastSequence", "sizeBytes", "newBytes",
                    "history", "state",
                ], format: format, output: try Output())
            for stretch in contents.stretches {
                try rows.write([
                    .string(MomentText.text(stretch.firstDate)),
                    stretch.lastDate.map { .string(MomentText.text($0)) } ?? .null,
                    .integer(stretch.firstSequence),
                    stretch.lastSequence.map { .integer($0) } ?? .null,
                    .integer(stretch.sizeBytes), .integer(stretch.newBytes),
                    .string(String(stretch.history.prefix(8))),
                    .string(stretch.problem == nil ? "not checked" : "damaged"),
                ])
            }
            try rows.finish()
            let problems =
                contents.stretches.compactMap(\.problem) + (contents.problem.map { [$0] } ?? [])
            for problem in problems { printError(problem.description) }
            guard problems.isEmpty else { throw Failure(.damaged, nil) }
            guard contents.stretches.isEmpty else { return }
            throw Failure(
                .notFound, "\(address): the copy has no base yet: it was begun and never completed")
        }

        /// Has `another` open the sealed copy, in the place of `encryption`.
        func rotateKey(
            from encryption: WorkspaceEncryption, to another: WorkspaceEncryption
        ) async throws {
            try await naming {
                try await Replica.rotateKey(of: try storage(), from: encryption, to: another)
            }
        }

        /// Names the place in an error that names no object of it.
        func naming<Result: Sendable>(
            _ body: () async throws -> Result
        ) async throws -> Result {
            do { return try await body() } catch let error as RoostError where error.file == nil {
                throw RoostError(error.code, "\(address): \(error.message)", cause: error.cause)
            }
        }

        func storage() throws -> any ObjectStorage {
            if address.hasPrefix("s3://") { return try S3Storage(address) }
            return DirectoryStorage(path: try directory())
        }

        private static func point(_ moment: String?, _ sequence: UInt64?) throws -> RestorePoint {
            if moment != nil, sequence != nil {
                throw ValidationError("a moment or a sequence number, not both")
            }
            if let sequence { return .sequence(sequence) }
            guard let moment else { return .newest }
            if let date = MomentText.date(moment) { return .moment(date) }
            throw ValidationError("not a moment as 2026-11-20T10:00:00Z: \(moment)")
        }
    #else
        func restore(
            to target: String, at moment: String?, sequence: UInt64?, _ keys: Keys
        ) async throws { throw Self.isNotBuilt }

        func list(encryption: WorkspaceEncryption?, format: OutputFormat) async throws {
            throw Self.isNotBuilt
        }

        func rotateKey(
            from encryption: WorkspaceEncryption, to another: WorkspaceEncryption
        ) async throws { throw Self.isNotBuilt }

        static var isNotBuilt: Failure {
            Failure(
                .usage,
                "this roost was built without copies off the machine. Build it with them: "
                    + "swift build -c release --product roost --traits Replica")
        }
    #endif
}
