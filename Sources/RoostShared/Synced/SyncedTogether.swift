import Roost
import RoostIO

// Sending many objects by one commit: after days without a connection thousands wait.

extension SyncedExchange {
    /// How many objects are sent by one commit at most: with what guards each, fewer operations than etcd takes at once.
    static var mostTogether: Int { 24 }

    /// Sends those of the objects about which nothing is to be decided.
    ///
    /// - Returns: the keys of the others, to be sent each by itself, which also finds out what is wrong with one.
    func sendTogether(_ keys: [String]) async throws -> [String] {
        guard keys.count > 1 else { return keys }
        var left: [String] = []
        var planned = try await prepare(keys, &left)
        guard planned.count > 1 else { return keys }
        let name = SyncedAttempt<Item>.newName()
        for index in planned.indices { planned[index].plan.attempt.name = name }
        let commit: SyncedCommit
        do {
            commit = try await commitKeepingIndexes(of: planned) ?? commitByKeys(of: planned)
        } catch let error as RoostError where error.code == .tooLarge {
            // Entries of indexes, or objects that are large: the next are fewer, and then more again.
            let half = keys.count / 2
            togetherCount = half
            let left = try await sendTogether(Array(keys[..<half]))
            return left + (try await sendTogether(Array(keys[half...])))
        } catch  where !isEnd(error) && !isEndOfSending(error) { return keys }
        let attempts = planned.map(\.plan.attempt)
        do {
            guard let revision = try await make(commit, of: attempts) else { return keys }
            // Nobody sees that what is not there is removed.
            report.sentCount += planned.count {
                $0.there.version != 0 || $0.plan.attempt.result != nil
            }
            togetherCount = min(togetherCount + 1, Self.mostTogether)
            let changed = try await records.settle(
                attempts.map { ($0, $0.result == nil ? 0 : revision) })
            return left + changed
        } catch  where !isEnd(error) && !isEndOfSending(error) {
            // Before another attempt takes the place of these.
            try await finishAttempts()
            return keys
        }
    }

    /// What is to be done with those of the objects that can be read and are in no conflict.
    private func prepare(_ keys: [String], _ left: inout [String]) async throws -> [Planned] {
        var waiting: [(key: String, waiting: Waiting, mine: Item?)] = []
        for key in keys {
            do {
                // One that does not wait any more is sent already, or was taken back.
                guard let found = try await records.waiting(key) else { continue }
                waiting.append((key, found.waiting, found.mine))
            } catch { left.append(key) }
        }
        let there = await read(waiting.map { ($0.key, $0.waiting.origin != nil) })
        var planned: [Planned] = []
        for ((key, waiting, mine), there) in zip(waiting, there) {
            do {
                let there = try there.get()
                let plan = try plan(key, waiting, mine, there)
                if plan.staysThere || plan.attempt.isConflict {
                    left.append(key)
                } else {
                    planned.append(Planned(plan: plan, there: there))
                }
            } catch  where !isEnd(error) { left.append(key) }
        }
        return planned
    }

    /// In the order of the keys, of which strings take some for equal that are not.
    private func read(
        _ keys: [(key: String, withOrigin: Bool)]
    ) async -> [Result<SyncedThere<Item>, any Error>] {
        let reading = reading
        return await withTaskGroup { group in
            for (index, (key, withOrigin)) in keys.enumerated() {
                group.addTask { () -> (Int, Result<SyncedThere<Item>, any Error>) in
                    do {
                        return (
                            index, .success(try await reading.object(key, withOrigin: withOrigin))
                        )
                    } catch { return (index, .failure(error)) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
