/// How far a workspace that is opened for reading only has followed its writer.
public struct FollowingStatus: Sendable, Hashable {
    /// The sequence number of the last batch that reads show.
    public var sequence: UInt64
    /// Whether a writer has the workspace open, in this process or another, when this is asked: the
    /// batches that reads show may be older.
    public var isWriterOpen: Bool
    /// How many batches the writer is known to be ahead. It tells of them when readers have seen what
    /// there was, half a millisecond apart at the least, so that it may be more by what came since.
    public var batchesBehind: UInt64
}

extension Engine {
    /// `nil` where nothing is followed.
    package var following: FollowingStatus? {
        guard let shared = follower?.shared else { return nil }
        let sequence = shared.sequence
        let isWriterOpen = shared.isWriterOpenNow
        let told = isWriterOpen ? shared.page?.sequence ?? 0 : 0
        return FollowingStatus(
            sequence: sequence, isWriterOpen: isWriterOpen,
            batchesBehind: told - min(told, sequence))
    }

    /// Returns once all is visible that was in the log before the call.
    package func catchUp() async throws -> UInt64 {
        try condition.checkOpen()
        return try await follower?.shared.catchUp() ?? lastSequence
    }
}
