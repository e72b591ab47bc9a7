import ArgumentParser
import Foundation
import Roost

#if Encryption
    import Crypto
    import RoostEncryption
#endif

/// With which key a workspace is opened that is encrypted.
struct EncryptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The key of an encrypted workspace: a file of 32 bytes, or of 64 hexadecimal digits. Else ROOST_KEY_FILE."
        ), completion: .file())
    var keyFile: String?
    @Option(
        help: ArgumentHelp(
            "The passphrase of an encrypted workspace: the first line of a file. Else ROOST_PASSPHRASE_FILE."
        ), completion: .file())
    var passphraseFile: String?

    func validate() throws {
        if keyFile != nil, passphraseFile != nil {
            throw ValidationError("a key or a passphrase, not both")
        }
    }

    /// Whether an option says a key; not what the environment says.
    var areSaid: Bool { keyFile != nil || passphraseFile != nil }

    /// As the options say, else the environment; `nil` where neither says anything.
    func encryption() throws -> WorkspaceEncryption? {
        if keyFile == nil, passphraseFile == nil {
            let keyFile = InputFile.path(inVariable: "ROOST_KEY_FILE")
            let passphraseFile = InputFile.path(inVariable: "ROOST_PASSPHRASE_FILE")
            if keyFile != nil, passphraseFile != nil {
                throw Failure(
                    .usage,
                    "ROOST_KEY_FILE and ROOST_PASSPHRASE_FILE are set: a key or a passphrase, not both"
                )
            }
            return try Self.encryption(keyFile: keyFile, passphraseFile: passphraseFile)
        }
        return try Self.encryption(keyFile: keyFile, passphraseFile: passphraseFile)
    }

    #if Encryption
        static func encryption(
            keyFile: String?, passphraseFile: String?
        ) throws -> WorkspaceEncryption? {
            if let keyFile { return .key(try key(in: keyFile)) }
            guard let passphraseFile else { return nil }
            return .passphrase(try InputFile.secret(in: passphraseFile))
        }

        private static func key(in path: String) throws -> SymmetricKey {
            let data = try InputFile.shortContents(of: path)
            if data.count == 32 { return SymmetricKey(data: data) }
            let digits = Array(data.drop { $0.isSpace }.reversed().drop { $0.isSpace }.reversed())
            let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 64, values.count == 64 else {
                throw Failure(.usage, "\(path): a key is 32 bytes, or 64 hexadecimal digits")
            }
            return SymmetricKey(
                data: stride(from: 0, to: 64, by: 2).map {
                    UInt8(values[$0] << 4 | values[$0 + 1])
                })
        }
    #else
        static func encryption(
            keyFile: String?, passphraseFile: String?
        ) throws -> WorkspaceEncryption? {
            guard keyFile != nil || passphraseFile != nil else { return nil }
            throw Failure(
                .usage,
                "this roost was built without encryption. Build it with it: "
                    + "swift build -c release --product roost --traits Encryption")
        }
    #endif
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}
