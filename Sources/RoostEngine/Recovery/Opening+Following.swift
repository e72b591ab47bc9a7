import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// Opening for reading only.
extension Opening {
    /// Where a writer cannot be followed there is none beside.
    func lockForReading(_ directory: any Directory, _ kind: String) throws {
        do { try directory.lock(exclusive: false) } catch let error as RoostError
            where error.code == .locked
        {
            throw RoostError(
                .locked,
                "another opening writes to this workspace, and on a file system of this kind "
                    + "(\(kind)) its memory is not known to be seen at once by others: close the "
                    + "writer first, or keep the workspace on a local file system",
                file: directory.path)
        }
    }

    /// Takes no lock, and reads what a writer may be changing.
    func openFollowing(
        _ directory: any Directory, _ fileSystem: any FileSystem,
        _ configuration: EngineConfiguration
    ) throws -> Recovery.Parts {
        try refuseIrregular(try directory.entries(), directory.path)
        let page = try SignalPage.forReader(FileName.signals.text, in: directory)
        var state = try FollowedState.read(
            in: directory, page: page, shardCount: configuration.shardCount)
        var report = RecoveryReport()
        if let ending = state.ending { report.note(ending, operationCount: 0) }
        report.replayedBatchCount = state.frameCount
        report.replayedOperationCount = state.replay.operationCount
        report.lastSequence = state.tail.lastSequence
        let condition = EngineCondition(isReadOnly: true, observer: configuration.observer)
        var parts = Recovery.Parts(
            directory: directory, manifest: state.manifest, cold: .none, shards: [],
            feed: ChangeFeed(), behind: WriteBehind(condition: condition), condition: condition,
            clock: ExpiryClock(configuration.wallClock), report: report, tailSizeBytes: 0,
            scheduling: fileSystem.scheduling)
        parts.shards = shards(of: parts, configuration)
        for shard in parts.shards { shard.restore(state.cold, clears: state.manifest.clears) }
        state.replay.apply(to: parts.shards)
        let log = FollowedLog(
            lastSequence: state.tail.lastSequence, segments: state.tail.segments)
        parts.follower = Follower(
            state, page: page, directory: directory,
            shards: FollowedShards(
                shards: parts.shards, feed: parts.feed, publication: parts.publication,
                hashSeed: state.manifest.hashSeed, log: log),
            condition: condition, scheduling: fileSystem.scheduling)
        return parts
    }
}
