import ArgumentParser
import Roost

/// `roost rotate-key`: another key for an encrypted workspace.
struct RotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Has another key, or passphrase, open an encrypted workspace or a sealed copy.",
        discussion: """
            The old key opens it no more when the command returns. What was written before stays sealed \
            under the data key that it was sealed under, which the new key opens; with --compact it is \
            sealed anew. Backups keep the key that they were made with.

            In place of a directory stands what a Replica copies to, as roost restore takes it. Who copies to it, or \
            follows it, goes on, and needs the new key once it begins again.
            """)

    @OptionGroup var target: WorkspaceArgument
    @Option(help: "The new key: a file as --key-file.", completion: .file())
    var newKeyFile: String?
    @Option(help: "The new passphrase: a file as --passphrase-file.", completion: .file())
    var newPassphraseFile: String?
    @Flag(help: "Seal everything under a new data key too.") var compact = false

    func validate() throws {
        if (newKeyFile == nil) == (newPassphraseFile == nil) {
            throw ValidationError("say either --new-key-file or --new-passphrase-file")
        }
        guard let copied else { return }
        try copied.check()
        if compact {
            throw ValidationError(
                "--compact is for a workspace: begin a copy in a new place to seal all of it anew")
        }
    }

    private var copied: CopiedPlace? { CopiedPlace(target.workspace) }

    func run() async throws {
        let encryption = try EncryptionOptions.encryption(
            keyFile: newKeyFile, passphraseFile: newPassphraseFile)
        guard let encryption else { throw Failure(.usage, "which key?") }
        if let copied {
            guard let old = try target.encryption.encryption() else {
                throw Failure(.usage, "say which key the copy has: --key-file or --passphrase-file")
            }
            return try await copied.rotateKey(from: old, to: encryption)
        }
        try await target.withExistingWorkspace { workspace in
            try await workspace.rotateKey(to: encryption)
            if compact {
                try await LiveProgress.show("compacting") { _ in try await workspace.compact() }
            }
        }
    }
}
