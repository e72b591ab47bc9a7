import RoostEngine

extension Workspace {
    /// How far the workspace has followed its writer; `nil` where it was opened for writing, or on a file
    /// system on which no writer can be followed. Does not suspend.
    public var following: FollowingStatus? { engine.following }

    /// Returns once reads show everything that the writer had committed before the call; the sequence
    /// number of the last batch that they show. Costs the writer nothing.
    ///
    /// A workspace opened for reading only follows its writer by itself, within milliseconds. This is for
    /// whoever was told of a write on another way, as by a message from the process that made it, and reads
    /// it now. Of a writer's own workspace it returns at once.
    ///
    /// What was written with `Durability.synced` and waits for the disk at the time is not waited for: the
    /// writer shows it to nobody yet, and here what comes after it waits too.
    ///
    /// - Throws: `.closed`; what has ended the following, as reads do then.
    @discardableResult
    public func catchUp() async throws -> UInt64 { try await engine.catchUp() }
}
