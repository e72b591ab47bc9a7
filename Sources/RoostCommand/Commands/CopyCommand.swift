import ArgumentParser
import Roost
import RoostShared

/// `roost copy`: records from one workspace into another.
struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies records into another workspace.",
        discussion: """
            From and to directories, etcd and PostgreSQL. Values keep their kinds, deadlines and versions; \
            keys that the target has are overwritten, others stay. Records that the target has as they \
            are are not written: a copy that was interrupted goes on where it was. What is written is \
            read back and compared. To back up a directory use backup. Exit status 1 where the source has \
            no such dictionary.
            """)

    @Argument(
        help: "Where from: a workspace's directory, or etcd://…, etcds://… or postgres://….",
        completion: .directory)
    var source: String
    @Argument(help: "Where to: as where from.", completion: .directory)
    var target: String
    @Option(help: "Only this dictionary.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @Option(name: .customLong("as"), help: "What the dictionary is called in the target.")
    var newName: String?
    @Option(help: "The namespace of a cluster.") var namespace: String?
    @Option(help: "The namespace of the target, where it is another one.") var toNamespace: String?
    @OptionGroup var encryption: EncryptionOptions
    @Option(help: "The key of a target directory, as --key-file.", completion: .file())
    var toKeyFile: String?
    @Option(
        help: "The passphrase of a target directory, as --passphrase-file.", completion: .file())
    var toPassphraseFile: String?
    @OptionGroup var credentials: ClusterCredentials

    func validate() throws {
        if newName != nil && dictionary == nil {
            throw ValidationError("--as needs --dictionary")
        }
        for place in [source, target] where ClusterAddress(place) == nil {
            try refuseAddress(place)
        }
        for name in [namespace, toNamespace].compactMap(\.self) {
            try ClusterArgument.checkNamespace(name)
        }
        if toKeyFile != nil, toPassphraseFile != nil {
            throw ValidationError("either --to-key-file or --to-passphrase-file, not both")
        }
        if toKeyFile != nil || toPassphraseFile != nil, ClusterAddress(target) != nil {
            throw ValidationError(
                "--to-key-file and --to-passphrase-file are for a target directory: a cluster has no key"
            )
        }
        if namespace != nil || toNamespace != nil,
            [source, target].allSatisfy({ ClusterAddress($0) == nil })
        {
            throw ValidationError(
                "--namespace and --to-namespace are for clusters, and both places are directories")
        }
        try refuseUnused()
    }

    /// What would be passed over in silence: who names a key for a new directory, and gets a plain one, is not to
    /// learn that later.
    private func refuseUnused() throws {
        if encryption.areSaid, ClusterAddress(source) != nil {
            throw ValidationError(
                "--key-file and --passphrase-file are for a source directory: a cluster has no key, and a target "
                    + "directory has --to-key-file and --to-passphrase-file")
        }
        if toNamespace != nil, ClusterAddress(target) == nil {
            throw ValidationError("--to-namespace is for a target that is a cluster")
        }
        if credentials.areSaid, [source, target].allSatisfy({ ClusterAddress($0) == nil }) {
            throw ValidationError(
                "--ca, --certificate, --certificate-key, --user, --password-file and --deadline are for clusters, "
                    + "and both places are directories")
        }
    }

    func run() async throws {
        var range = StoredRange(dictionary: dictionary)
        range.prefix = prefix
        let (key, targetKey) = (
            try encryption.encryption(),
            try EncryptionOptions.encryption(
                keyFile: toKeyFile, passphraseFile: toPassphraseFile)
        )
        let report = try await withStore(source, namespace, .readOnly, key) { [range] from in
            try await from.require(dictionary)
            return try await withStore(target, toNamespace ?? namespace, .readWrite, targetKey) {
                into in
                try await copy(
                    RecordCopy(source: from, target: into, range: range, newName: newName))
            }
        }
        let count = grouped(report.recordCount)
        if report.writtenCount == report.recordCount {
            printError("\(count) records copied and compared")
        } else {
            printError("\(count) records compared, \(grouped(report.writtenCount)) of them copied")
        }
    }

    private func copy(_ copy: RecordCopy) async throws -> RecordCopy.Report {
        var progress = ProgressBar(verb: "copying")
        let report: RecordCopy.Report
        do {
            report = try await copy.run { progress.update(count: $0.recordCount, fraction: $1) }
        } catch {
            progress.clear()
            throw error
        }
        progress.finish(count: report.recordCount)
        return report
    }

    private func withStore<Result: Sendable>(
        _ place: String, _ namespace: String?, _ access: Workspace.Configuration.Access,
        _ encryption: WorkspaceEncryption?, _ body: (any RecordStore) async throws -> Result
    ) async throws -> Result {
        guard let address = ClusterAddress(place) else {
            return try await WorkspaceArgument.withWorkspace(place, access, encryption) {
                try await body(WorkspaceStore(workspace: $0))
            }
        }
        guard let namespace else {
            throw ValidationError("which namespace? say --namespace NAME")
        }
        let hasEtcd = [source, target].contains { ClusterAddress($0)?.isEtcd == true }
        return try await credentials.used(at: address, isShared: hasEtcd).withWorkspace(
            at: address, namespace: namespace, makesNamespace: access == .readWrite
        ) {
            try await body(ClusterStore(workspace: $0))
        }
    }
}
