/// Everything that can go wrong, except programmer errors, which trap.
///
/// A `RoostError` names what failed (``code``), says it for people (``message``), and where there
/// is one, the file and the byte offset in it, and the error underneath.
public struct RoostError: Error, Sendable {
    /// What failed. Compare with the static members: `error.code == .locked`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code, as it is written in Swift.
        public let description: String

        private init(_ name: String) { description = name }

        /// Another opening, in this process or another, owns the workspace.
        public static let locked = Code("locked")
        /// The workspace was closed before or during the call.
        public static let closed = Code("closed")
        /// Bytes on disk are not what was written.
        public static let corrupt = Code("corrupt")
        /// The stored value is of another type than the one asked for.
        public static let typeMismatch = Code("typeMismatch")
        /// What the call rested on was changed by another writer.
        public static let conflict = Code("conflict")
        /// An object with this identifier is there already.
        public static let alreadyExists = Code("alreadyExists")
        /// Another object has the value that an index keeps unique; the cause is a `NotUnique`.
        public static let notUnique = Code("notUnique")
        /// No index answers the query of a shared repository, which reads every object only where it is told to.
        public static let notIndexed = Code("notIndexed")
        /// The key of a followed dictionary was not loaded yet, so that nobody knows here whether it has a value.
        public static let notLoaded = Code("notLoaded")
        /// The key is longer than 64 KiB.
        public static let keyTooLarge = Code("keyTooLarge")
        /// The value is longer than 256 MiB, or the batch longer than 1 GiB.
        public static let valueTooLarge = Code("valueTooLarge")
        /// The key that was given does not open an encrypted workspace, none was given, or one was for a workspace
        /// that is not encrypted; nothing was changed.
        public static let wrongKey = Code("wrongKey")
        /// A newer version wrote this; nothing was changed.
        public static let unsupportedVersion = Code("unsupportedVersion")
        /// Another writer has taken over the place that this one copied to.
        public static let fenced = Code("fenced")
        /// The workspace was opened for reading only.
        public static let readOnly = Code("readOnly")
        /// An earlier write or sync failed; its outcome is unknown until the workspace is reopened.
        public static let poisoned = Code("poisoned")
        /// The disk is full, or a quota is reached.
        public static let outOfSpace = Code("outOfSpace")
        /// The operating system refused.
        public static let io = Code("io")
        /// The stored bytes do not decode as the type asked for; they were left as they are.
        public static let decodingFailed = Code("decodingFailed")
        /// The value could not be encoded; nothing was changed.
        public static let encodingFailed = Code("encodingFailed")
        /// A sum does not fit into its type.
        public static let overflow = Code("overflow")
        /// More than an engine beyond this process takes at once; the message names the limit.
        public static let tooLarge = Code("tooLarge")
        /// An engine beyond this process could not be reached within the call's deadline, or has nobody
        /// that may decide; nothing was changed.
        public static let unavailable = Code("unavailable")
        /// Whether a write took effect could not be found out within the call's deadline.
        public static let unknownOutcome = Code("unknownOutcome")
        /// An engine beyond this process no longer keeps the version that was asked for.
        public static let compacted = Code("compacted")
        /// The engine does not let these credentials in, or do this.
        public static let notPermitted = Code("notPermitted")
        /// The calling task was cancelled before the call took effect.
        public static let cancelled = Code("cancelled")
    }

    /// What failed.
    public var code: Code
    /// What happened and what to do about it, for people.
    public var message: String
    /// The path of the file concerned.
    public var file: String?
    /// The byte offset in ``file``.
    public var offset: UInt64?
    /// The error underneath.
    public var cause: (any Error)?

    /// An error as the library's own are; for storages, key providers and engines that programs write.
    public init(
        _ code: Code, _ message: String, file: String? = nil, offset: UInt64? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.file = file
        self.offset = offset
        self.cause = cause
    }
}

extension RoostError: CustomStringConvertible {
    public var description: String {
        var text = "\(code): \(message)"
        if let file {
            text += " [\(file)"
            if let offset { text += " at offset \(offset)" }
            text += "]"
        }
        if let cause { text += " (\(cause))" }
        return text
    }
}
