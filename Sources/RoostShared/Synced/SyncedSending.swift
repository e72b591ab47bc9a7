import Roost
import RoostIO

// Sending what waits, one object after another.

extension SyncedExchange {
    /// What is to be done with one object.
    private struct Plan {
        var attempt: SyncedAttempt<Item>
        /// Whether what is there stays as it is.
        var staysThere = false
        /// What the others are told of it, where it was in another store before.
        var origin: SyncedOrigin?
    }

    func send(_ key: String) async throws {
        while let (waiting, mine) = try await records.waiting(key) {
            let there = try await read(key, waiting)
            let plan = try plan(key, waiting, mine, there)
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
            let isSettled = try await records.settle(plan.attempt, version)
            guard isSettled else { continue }
            // One that others have changed since, and this device has not.
            if !plan.attempt.isMine, !plan.attempt.isConflict { report.takenCount += 1 }
            return
        }
    }

    private func read(_ key: String, _ waiting: Waiting) async throws -> SyncedThere<Item> {
        let connection = shared.connection
        let deadline = shared.workspace.callEnd
        let (record, revision) = try await connection.record(
            try shared.engineKey(key), before: deadline)
        var there = SyncedThere(
            item: try shared.value(of: record, key, form), stored: connection.live(record)?.value,
            version: record?.revision ?? 0, revision: revision)
        if waiting.origin != nil, let originKey = originKey(key) {
            let (origin, _) = try await connection.record(
                originKey, at: revision, before: deadline)
            there.origin = try origins.value(of: origin, key, .codable())
            there.originVersion = origin?.revision ?? 0
        }
        return there
    }

    /// Where the origin of an object is; `nil` where the object's key is so long that the engine does not take it.
    private func originKey(_ key: String) -> [UInt8]? {
        let originKey = origins.start + Array(key.utf8)
        return originKey.count <= shared.connection.engine.limits.keySizeBytes ? originKey : nil
    }

    private func plan(
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
            plan.origin = originKey(key) == nil ? nil : origin
            switch choice(origin, there) {
            case .mine: return plan
            case .theirs:
                take(there.item, &plan)
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
        plan.attempt.theirs = there.item
        switch try rule(mine, there.item) {
        case .mine: break
        case .theirs: take(there.item, &plan)
        case .merged(let item):
            if let item, item.id.key != key {
                throw RoostError(.encodingFailed, "the rule gave the object another identifier")
            }
            plan.attempt.isMine = false
            plan.attempt.result = item
        }
        if there.version == 0, plan.attempt.result == nil { plan.staysThere = true }
        return plan
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
        guard let mine else { return there.item == nil }
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
        let attempt = plan.attempt
        let key = try shared.engineKey(attempt.key)
        let receiptKey = try receipts.engineKey(receipt.key)
        let operation: SharedOperation =
            if let result = attempt.result {
                .put(key: key, value: try shared.stored(result, form), expiresIn: nil)
            } else {
                .remove(key: key)
            }
        let name = try receipts.stored(attempt.name, .codable())
        var commit = SharedCommit(
            guards: [
                .key(key, revision: there.version),
                .key(receiptKey, revision: receipt.version),
                .key(try receipts.engineKey(store.key), revision: store.version),
            ],
            operations: [operation, .put(key: receiptKey, value: name, expiresIn: nil)])
        if let origin = plan.origin, let originKey = originKey(attempt.key) {
            commit.guards.append(.key(originKey, revision: there.originVersion))
            commit.operations.append(
                .put(key: originKey, value: try origins.stored(origin, .codable()), expiresIn: nil))
        }
        // What the engine does not take is not written down as being sent.
        try shared.connection.checkLimits(commit)
        try await records.note(attempt)
        guard
            case .committed(let revision) = try await shared.connection.commit(
                commit, byKeysOf: [shared.name], before: shared.workspace.callEnd)
        else {
            receipt = try await receipts.loadEntry(receipt.key, as: String.self)
            try await checkStore()
            return nil
        }
        receipt = Entry(
            key: receipt.key, value: attempt.name, version: revision,
            in: try receipts.checkedName())
        return attempt.result == nil ? 0 : revision
    }
}
