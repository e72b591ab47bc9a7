/// A view begins: all shards at one moment.
extension Engine {
    /// All shards at this moment. Holds every shard's mutex while it copies references; takes the turn
    /// of each shard that has a committed batch to fold, which the batch's writer would do next.
    ///
    /// - Parameter hidesEnqueued: Whether enqueued writes that have no place among the changes yet are not
    ///   in it.
    package func view(hidesEnqueued: Bool = false) throws -> EngineView {
        try condition.checkOpen()
        if configuration.plantedFaults.contains(.tornViews) { return tornView() }
        var owed: [(Shard, ShardTurn.Afterwards)] = []
        let view = publication.withLock {
            if let view = begunView(hidesEnqueued) { return view }
            // While `publication` is held, no batch becomes committed.
            owed = foldCommitted()
            return begunView(hidesEnqueued)!
        }
        for (shard, afterwards) in owed { shard.tell(afterwards) }
        return view
    }

    /// As `view`, of a caller that holds `publication` and has called `foldCommitted` under it.
    func viewOfFolded(hidesEnqueued: Bool = false) -> EngineView {
        configuration.plantedFaults.contains(.tornViews) ? tornView() : begunView(hidesEnqueued)!
    }

    /// Moves committed batches into the tables, under the turns of their shards; returns what the
    /// caller, who holds `publication`, owes to others once it holds it no more.
    func foldCommitted() -> [(Shard, ShardTurn.Afterwards)] {
        shards.filter { shard in shard.published.withLock { $0.hasUnfolded } }.map { shard in
            let afterwards = shard.turn.withLock { turn in
                shard.foldResolved(&turn)
                defer { turn.afterwards = ShardTurn.Afterwards() }
                return turn.afterwards
            }
            return (shard, afterwards)
        }
    }

    /// `nil` where a committed batch is not in the tables.
    private func begunView(_ hidesEnqueued: Bool) -> EngineView? {
        var begun = BegunView(givenUpCount: givenUpCount)
        begun.parts.reserveCapacity(shards.count)
        var id: UInt64 = 0
        guard beginView(&id, from: 0, hidesEnqueued, into: &begun) else { return nil }
        begun.parts.reverse()
        return EngineView(id: id, engine: self, begun)
    }

    /// What a view would be that did not take all mutexes at once.
    private func tornView() -> EngineView {
        let id = liveViews.add()
        var begun = BegunView(givenUpCount: givenUpCount)
        for shard in shards {
            shard.published.withLock { state in
                state.layers.begin(id)
                begun.add(ViewPart(state), state)
            }
            let next = ContinuousClock.now + .microseconds(30)
            while ContinuousClock.now < next {}
        }
        return EngineView(id: id, engine: self, begun)
    }

    /// Takes one mutex within the other, in the shards' order; once it has all, begins the view in each,
    /// the last first. `false`, with nothing begun, where a committed batch is not in the tables.
    private func beginView(
        _ id: inout UInt64, from index: Int, _ hidesEnqueued: Bool, into begun: inout BegunView
    ) -> Bool {
        guard index < shards.count else {
            id = liveViews.add()
            return true
        }
        return shards[index].published.withLock { state in
            if !state.staged.isEmpty, state.hasUnfolded { return false }
            guard beginView(&id, from: index + 1, hidesEnqueued, into: &begun) else {
                return false
            }
            state.layers.begin(id)
            begun.add(state.currentViewPart(hidesEnqueued: hidesEnqueued), state)
            return true
        }
    }
}
