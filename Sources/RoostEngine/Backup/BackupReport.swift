/// What a backup wrote, and what it found there already.
public struct BackupReport: Sendable, Hashable {
    /// The directory that the backup is in.
    public package(set) var path = ""
    /// The sequence number of the last batch that is in it.
    public package(set) var lastSequence: UInt64 = 0
    /// Written and read back by this call.
    public package(set) var copiedBytes: UInt64 = 0
    /// Shared with the earlier backup, by hard links.
    public package(set) var sharedBytes: UInt64 = 0
    /// Files of the earlier backup that were found damaged and so were not shared but copied, by their paths; always
    /// empty where what is shared was not to be read.
    public package(set) var damagedPaths: [String] = []
    /// Written and checked by an earlier call that did not end.
    public package(set) var continuedBytes: UInt64 = 0
    /// The generations of the series that the policy no longer keeps and that are gone, by their paths.
    public package(set) var removedPaths: [String] = []

    /// Of all files of the backup, without its manifest.
    public var sizeBytes: UInt64 { copiedBytes + sharedBytes + continuedBytes }

    package init() {}
}
