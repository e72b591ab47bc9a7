import RoostFormat

// What a flush and a merge do to a shard.

extension Shard {
    typealias Frozen = (table: LogTable?, clears: [ManifestRecord.Clear])

    /// Takes the table of all that was appended up to `sequence` out of the writers' way, for a
    /// snapshot to be written from it; what waits for a sync is waited for. The table that takes its
    /// place has the order `next`.
    func freeze(
        through sequence: UInt64, next order: KeyOrder = KeyOrder()
    ) async -> Frozen {
        // A batch without a sequence number may be in the log already, and not have said so.
        let unnumbered = published.withLock { state in
            state.staged.map(\.token).filter { $0.sequence == 0 }
        }
        while true {
            let (frozen, resolutionCount) = withTurn { turn -> (Frozen?, Int) in
                foldResolved(&turn)
                let isWaiting = published.withLock { state in
                    state.staged.contains { staged in
                        if staged.token.sequence == 0 {
                            return staged.isSingle || unnumbered.contains { $0 === staged.token }
                        }
                        return staged.token.sequence <= sequence || state.isOvertaken(staged)
                    }
                }
                return (isWaiting ? nil : freezeNow(next: order, &turn), turn.resolutionCount)
            }
            if let frozen { return frozen }
            await waitForResolution(since: resolutionCount)
        }
    }

    private nonisolated func freezeNow(next order: KeyOrder, _ turn: inout ShardTurn) -> Frozen {
        turn.heldRegion = nil
        return published.withLock { state in
            precondition(state.frozen == nil, "one table is frozen at a time")
            state.viewPart = nil
            let clears = state.clears.map { ManifestRecord.Clear(prefix: $0, sequence: $1) }
            guard !state.active.isEmpty else {
                // What is known of it since a view began says nothing of clears, which the flush may come to forget.
                state.layers.endTable(state.active)
                // Its old segments are not needed any more.
                if state.staged.isEmpty {
                    state.active = LogTable(order: order)
                } else {
                    state.active.takeOrder(order)
                }
                return (nil, clears)
            }
            let frozen = state.active
            state.layers.endTable(frozen)
            state.frozen = frozen
            state.active = LogTable(capacity: min(frozen.capacity, 1 << 12), order: order)
            // What is staged will enter the new table, and may point into segments that only
            // the old one holds.
            if !state.staged.isEmpty { state.active.hold(all: frozen) }
            return (frozen, clears)
        }
    }

    /// Puts a frozen table that could not be written back under the writers' changes.
    func thaw() {
        turn.withLock { turn in
            published.withLock { state in
                guard let frozen = state.frozen else { return }
                let newer = state.active
                state.layers.endTable(newer)
                state.active = frozen
                // Those that look at the frozen table go on with its order.
                state.active.takeOrder(of: newer)
                state.viewPart = nil
                state.active.hold(all: newer)
                // With the hashes that the table has: a key that cannot be read any more would be
                // found by none, and what is older would be read instead.
                newer.forEach(part: 0, bitCount: 0) { operation, hash in
                    state.active.insert(operation, hash: hash, sequence: operation.sequence)
                }
                state.frozen = nil
            }
            turn.heldRegion = nil
        }
    }

    /// What a shard has let go of: perhaps the last hold of mapped files, which takes the kernel
    /// milliseconds to unmap.
    struct Dropped: Sendable {
        var cold: ColdHold
        var frozen: LogTable?
        var viewPart: ViewPart?
    }

    /// Makes `cold` what the shard's readers look into. With `dropsFrozen` it holds all that the frozen table
    /// held.
    ///
    /// Returns what it has replaced, for the caller to keep until those who read it at this moment
    /// are through: neither they nor who waits for the shard should be the one to unmap it.
    func install(_ cold: ColdStorage, dropsFrozen: Bool) -> Dropped {
        turn.withLock { _ in
            published.withLock { state in
                var dropped = Dropped(cold: state.cold, viewPart: state.viewPart)
                state.viewPart = nil
                state.cold = ColdHold(cold)
                state.epoch += 1
                if dropsFrozen {
                    dropped.frozen = state.frozen
                    state.frozen = nil
                }
                return dropped
            }
        }
    }

    /// Forgets clears, by their dictionaries, that nothing is left to remove for. A later one of the same dictionary stays.
    func forget(_ clears: [[UInt8]: UInt64]) {
        turn.withLock { _ in
            published.withLock { state in
                // Of the two there may be many of either.
                if state.clears.count < clears.count {
                    state.clears = state.clears.filter { clears[$0.key] != $0.value }
                    return
                }
                for (prefix, sequence) in clears where state.clears[prefix] == sequence {
                    state.clears[prefix] = nil
                }
            }
        }
    }
}
