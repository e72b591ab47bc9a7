import Roost
import RoostIO

// Sending what waits, one object after another.

extension SyncedExchange {
    /// What is to be done with one object.
    struct Plan {
        var attempt: SyncedAttempt<Item>
        /// Whether what is there stays as it is.
        var staysThere = false
        /// What the others are told of it, where it was in another store before.
        var origin: SyncedOrigin?
    }

    /// And what is there.
    struct Planned {
        var plan: Plan
        let there: SyncedThere<Item>
    }

    func send(_ key: String) async throws {
        while let (waiting, mine) = try await records.waiting(key) {
            let there = try await reading.object(key, withOrigin: waiting.origin != nil)
            var plan = try plan(key, waiting, mine, there)
            if plan.attempt.isConflict { try decide(&plan, over: there) }
            let version: UInt64
            if plan.staysThere {
                // What is made is guarded by it.
                try await checkStore(at: there.revision)
                version = there.version
            } else {
                guard let made = try await make(plan, over: there) else { continue }
                version = made
                // Nobody sees that what is not there is removed.
                if there.version != 0 || plan.attempt.result != nil { report.sentCount += 1 }
            }
            let changed = try await records.settle([(plan.attempt, version)])
            guard changed.isEmpty else { continue }
            // One that others have changed since, and this device has not.
            if !plan.attempt.isMine, !plan.attempt.isConflict { report.takenCount += 1 }
            return
        }
    }

    /// A conflict is left for `decide`.
    func plan(
        _ key: String, _ waiting: Waiting, _ mine: Item?, _ there: SyncedThere<Item>
    ) throws -> Plan {
        var plan = Plan(
            attempt: SyncedAttempt(
                name: SyncedAttempt<Item>.newName(), key: key, number: waiting.number,
                isConflict: false, isMine: true, mine: mine, theirs: nil, result: mine))
        if let origin = waiting.origin {
            if try isSame(mine, there, as: origin) {
                // Put again as it is, where who comes later could not know how late this state is.
                plan.origin = there.originToTell(of: origin)
                plan.staysThere = plan.origin == nil
                return plan
            }
            plan.origin = reading.originKey(key) == nil ? nil : origin
            switch choice(origin, there) {
            case .mine: return plan
            case .theirs:
                take(try there.item.get(), &plan)
                return plan
            case .conflict:
                // What becomes of it has what both have.
                let version = max(origin.version, there.origin(as: origin)?.version ?? 0)
                plan.origin?.version = version
                plan.origin?.isChanged = true
            }
        } else if there.version == waiting.base {
            plan.staysThere = there.version == 0 && mine == nil
            return plan
        } else if try isSame(mine, there) {
            // Both sides have made the same of it: there is nothing to decide.
            plan.staysThere = true
            return plan
        }
        plan.attempt.isConflict = true
        plan.attempt.theirs = try there.item.get()
        return plan
    }

    /// Asks the rule what becomes of a conflict.
    private func decide(_ plan: inout Plan, over there: SyncedThere<Item>) throws {
        let theirs = plan.attempt.theirs
        switch try rule(plan.attempt.mine, theirs) {
        case .mine: break
        case .theirs: take(theirs, &plan)
        case .merged(let item):
            if let item, !item.id.key.utf8.elementsEqual(plan.attempt.key.utf8) {
                throw RoostError(.encodingFailed, "the rule gave the object another identifier")
            }
            plan.attempt.isMine = false
            plan.attempt.result = item
        }
        if there.version == 0, plan.attempt.result == nil { plan.staysThere = true }
    }

    private func take(_ item: Item?, _ plan: inout Plan) {
        plan.attempt.isMine = false
        plan.attempt.result = item
        plan.staysThere = true
    }

    /// Whether an object that comes from another store is the same here and there.
    private func isSame(
        _ mine: Item?, _ there: SyncedThere<Item>, as origin: SyncedOrigin
    ) throws -> Bool {
        if mine == nil, there.origin(as: origin) == nil { return false }
        return try isSame(mine, there)
    }

    private func isSame(_ mine: Item?, _ there: SyncedThere<Item>) throws -> Bool {
        guard let mine else { return there.stored == nil }
        return try shared.stored(mine, form) == there.stored
    }

    private func choice(
        _ origin: SyncedOrigin, _ there: SyncedThere<Item>
    ) -> SyncedOrigin.Choice {
        guard let theirs = there.origin(as: origin) else {
            return there.version == 0 ? .mine : .conflict
        }
        return origin.choice(over: theirs, isChangedThere: there.isChangedSinceOrigin)
    }

    /// - Returns: the object's version, zero where it was removed; `nil` where another device was first, and it is to be
    ///   decided again.
    private func make(_ plan: Plan, over there: SyncedThere<Item>) async throws -> UInt64? {
        let planned = [Planned(plan: plan, there: there)]
        guard let commit = try await commit(of: planned),
            let revision = try await make(commit, of: [plan.attempt])
        else { return nil }
        return plan.attempt.result == nil ? 0 : revision
    }

    /// The commit that sends objects; `nil` where another device was first with one of them.
    private func commit(of planned: [Planned]) async throws -> SyncedCommit? {
        do {
            if let commit = try await commitKeepingIndexes(of: planned) { return commit }
        } catch is AttemptLost {
            try await takeWhatIsThere()
            return nil
        } catch  where !isEnd(error) && !isEndOfSending(error) {
            // As one that breaks what an index keeps unique: sent by its key, it takes the indexes away. Whatever else is
            // wrong is wrong with that too.
        }
        return try commitByKeys(of: planned)
    }
}
