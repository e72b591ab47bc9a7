import Roost
import RoostIO

// Sending many objects by one commit: after days without a connection thousands wait.

extension SyncedExchange {
    /// How many objects are sent by one commit, if the engine takes them: with what guards each, fewer operations than etcd
    /// takes at once.
    static var togetherCount: Int { 24 }

    private struct Ready {
        var plan: Plan
        let there: SyncedThere<Item>
    }

    /// Sends those of the objects about which nothing is to be decided.
    ///
    /// - Returns: the keys of the others, to be sent each by itself, which also finds out what is wrong with one.
    func sendTogether(_ keys: [String]) async throws -> [String] {
        guard keys.count > 1 else { return keys }
        var left: [String] = []
        let ready = try await prepare(keys, &left)
        guard ready.count > 1 else { return keys }
        let name = SyncedAttempt<Item>.newName()
        var commit = try receiptCommit(name)
        var sent: [SyncedAttempt<Item>] = []
        var newCount = 0
        for var object in ready {
            object.plan.attempt.name = name
            var longer = commit
            do { try add(object.plan, over: object.there, to: &longer) } catch {
                left.append(object.plan.attempt.key)
                continue
            }
            commit = longer
            sent.append(object.plan.attempt)
            // Nobody sees that what is not there is removed.
            if object.there.version != 0 || object.plan.attempt.result != nil { newCount += 1 }
        }
        guard sent.count > 1 else { return keys }
        do {
            guard let revision = try await make(commit, of: sent) else { return keys }
            report.sentCount += newCount
            return left
                + (try await records.settle(sent.map { ($0, $0.result == nil ? 0 : revision) }))
        } catch  where !isEnd(error) && !isEndOfSending(error) {
            // Before another attempt takes the place of these.
            try await finishAttempts()
            return keys
        }
    }

    /// What is to be done with those of the objects that can be read and are in no conflict.
    private func prepare(_ keys: [String], _ left: inout [String]) async throws -> [Ready] {
        var waiting: [(key: String, waiting: Waiting, mine: Item?)] = []
        for key in keys {
            do {
                // One that does not wait any more is sent already, or was taken back.
                guard let found = try await records.waiting(key) else { continue }
                waiting.append((key, found.waiting, found.mine))
            } catch { left.append(key) }
        }
        let there = await read(waiting.map { ($0.key, $0.waiting.origin != nil) })
        var ready: [Ready] = []
        for ((key, waiting, mine), there) in zip(waiting, there) {
            do {
                let there = try there.get()
                let plan = try plan(key, waiting, mine, there)
                if plan.staysThere || plan.attempt.isConflict {
                    left.append(key)
                } else {
                    ready.append(Ready(plan: plan, there: there))
                }
            } catch  where !isEnd(error) { left.append(key) }
        }
        return ready
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
