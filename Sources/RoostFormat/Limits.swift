/// The bounds that hold for every workspace, checked before anything is written and before
/// anything read from disk is believed. docs/FORMAT.md states them too.
package enum Limits {
    /// The format of the manifest, of segments and of snapshots, which change together. Any other
    /// on disk is `unsupportedVersion`.
    package static let formatVersion: UInt32 = 3

    /// Sequence numbers and the numbers of files are below this, so that adding to one that was
    /// read from disk never overflows.
    package static let number: UInt64 = 1 << 62

    /// A workspace with a number from here on is not written to: what is counted up in one opening stays below `number`.
    package static let openedNumber: UInt64 = number - 1 << 40

    package static let keySizeBytes = 64 << 10
    package static let valueSizeBytes = 256 << 20
    /// The name of a dictionary, in UTF-8.
    package static let dictionaryNameSizeBytes = 255
    /// A record's key: the name's length, the name, the user's key.
    package static let recordKeySizeBytes = keySizeBytes + dictionaryNameSizeBytes + 1
    /// What a record may add to a value: its kind and its deadline.
    package static let valueOverheadBytes = 16
    package static let framePayloadSizeBytes = 1 << 30
    package static let shardCount = 1024
    /// Of one file: what a file system may hold of it, many times what a workspace makes. The sum of as many as a manifest
    /// can list is below `number`.
    package static let fileSizeBytes: UInt64 = 1 << 40
    /// Bounds the manifest before it is read into memory.
    package static let manifestSizeBytes = 64 << 20
    package static let compressionDictionarySizeBytes = 64 << 10
}
