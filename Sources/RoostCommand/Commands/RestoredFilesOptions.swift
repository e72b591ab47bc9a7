import ArgumentParser
import Roost

/// How the files are written that a copy becomes.
struct RestoredFilesOptions: ParsableArguments {
    @Option(
        help: "Of a copy: the key of the new workspace, as --key-file.", completion: .file())
    var toKeyFile: String?
    @Option(
        help: "Of a copy: the passphrase of the new workspace, as --passphrase-file.",
        completion: .file())
    var toPassphraseFile: String?
    @Flag(help: "Of a sealed copy: the new workspace is not encrypted.") var toPlain = false

    private var saidCount: Int {
        [toKeyFile != nil, toPassphraseFile != nil, toPlain].count { $0 }
    }

    var areSaid: Bool { saidCount > 0 }

    func validate() throws {
        if saidCount > 1 {
            throw ValidationError("one of --to-key-file, --to-passphrase-file and --to-plain")
        }
    }

    func keys(ofCopy encryption: EncryptionOptions) throws -> CopiedPlace.Keys {
        CopiedPlace.Keys(
            copy: try encryption.encryption(),
            target: try EncryptionOptions.encryption(
                keyFile: toKeyFile, passphraseFile: toPassphraseFile),
            isPlain: toPlain)
    }
}
