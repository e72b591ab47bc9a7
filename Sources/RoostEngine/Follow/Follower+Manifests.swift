import RoostFormat
import RoostIO
import RoostLog

// How a newer cold storage takes the older one's place.

extension Follower {
    var newestManifest: ManifestRecord { pending?.manifest ?? manifest }

    func readManifest() throws {
        while true {
            let read = try FollowedState.readManifest(in: directory)
            if read.generation == newestManifest.generation { return }
            try refuseOther(read)
            do {
                let opened = try ColdStorage(read, in: directory, known: pending?.cold ?? cold)
                pending = (read, opened)
                if rebuild?.isFor(read) == false { rebuild = nil }
                return
            } catch {
                // Removed by now, where there is a newer one.
                guard try FollowedState.readManifest(in: directory) != read else { throw error }
            }
        }
    }

    private func refuseOther(_ read: ManifestRecord) throws {
        guard read.workspace == manifest.workspace, read.generation > newestManifest.generation
        else { throw replaced }
    }

    var replaced: RoostError {
        RoostError(
            .corrupt,
            "the workspace was replaced by another, or by an earlier state, while it was read. "
                + "Open it again", file: directory.path)
    }

    /// Makes the pending manifest's cold storage the one that is shown, once all in it is visible.
    func takeOver() throws {
        guard let (next, opened) = pending, next.coveredSequence <= tail.lastSequence else {
            return
        }
        tail.noteDurable(next.durableSequence)
        if next.firstSegment == manifest.firstSegment,
            next.flushedSequence == manifest.flushedSequence
        {
            // A merge: the tables are of what is after the same snapshots.
            let dropped = shards.install(opened, nil)
            withExtendedLifetime(dropped) {}
        } else {
            var rebuild = self.rebuild ?? Rebuild(next, shardCount: shards.shards.count)
            // Handed over rather than copied.
            self.rebuild = nil
            let isWhole = try rebuild.advance(to: tail, limitBytes: Self.rebuildSizeBytes)
            guard isWhole else {
                self.rebuild = rebuild
                return
            }
            let dropped = shards.install(opened, rebuild.finish(next))
            withExtendedLifetime(dropped) {}
        }
        (manifest, cold) = (next, opened)
        pending = nil
        tail.forget(before: next.firstSegment)
        shards.log.history.forget(before: next.firstSegment)
    }

    /// Gives every shard readers of the same files that have read nothing yet, where too much of them is in memory. Does
    /// nothing while a newer manifest waits: its cold storage has some of the old readers, and is the next generation after
    /// them. Where a file cannot be opened, as a compaction took it, the old readers stay until the newer manifest.
    func reopenWhereAsked() {
        let releases = shared.takeReleases()
        if releases.isEmpty { return }
        defer { for done in releases { done() } }
        guard pending == nil else { return }
        do { cold = try cold.reopened(manifest, in: directory) } catch { return }
        let dropped = shards.install(cold, nil)
        withExtendedLifetime(dropped) {}
    }

    /// The next batch was in a segment that is gone: goes on with what is in its place. Where nothing is for too long, the
    /// batch is lost.
    func skipAhead() throws {
        missedLookCount += 1
        try readManifest()
        guard newestManifest.flushedSequence > tail.lastSequence else {
            guard missedLookCount > Self.missingLookLimit else { return }
            throw tail.damage(
                tail.segments.last, "batch \(tail.lastSequence + 1) was on disk and is missing")
        }
        var state = try FollowedState.read(
            in: directory, page: shared.page, shardCount: shards.shards.count, known: cold)
        guard state.tail.lastSequence > tail.lastSequence else { return }
        let (tables, replayed) = state.replay.finish()
        let dropped = shards.skip(
            to: state.tail.lastSequence, state.cold,
            FollowedTables(tables: tables, clears: state.manifest.clears(and: replayed)))
        withExtendedLifetime(dropped) {}
        shards.log.history.replace(with: state.tail.segments.map(\.forHistory))
        (manifest, cold, tail) = (state.manifest, state.cold, state.tail)
        pending = nil
        rebuild = nil
        missedLookCount = 0
    }
}
