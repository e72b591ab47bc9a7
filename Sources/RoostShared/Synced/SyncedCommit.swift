import Roost
import RoostIO

/// What sends objects, before it is made.
struct SyncedCommit {
    var commit: SharedCommit
    /// What has the entries of indexes in it; `nil` where objects are sent by their keys, which takes indexes away.
    let keeping: SharedTransaction?
}

// What every commit has: the receipt, guarded by its former state, and that it is still the same store.

extension SyncedExchange {
    func commitByKeys(of planned: [Planned]) throws -> SyncedCommit {
        let receiptKey = try receipts.engineKey(receipt.key)
        var commit = SharedCommit(
            guards: [
                .key(receiptKey, revision: receipt.version),
                .key(try receipts.engineKey(store.key), revision: store.version),
            ],
            operations: [
                .put(key: receiptKey, value: try storedName(of: planned), expiresIn: nil)
            ])
        for object in planned {
            let key = try shared.engineKey(object.plan.attempt.key)
            commit.guards.append(.key(key, revision: object.there.version))
            if let result = object.plan.attempt.result {
                let stored = try shared.stored(result, form)
                commit.operations.append(.put(key: key, value: stored, expiresIn: nil))
            } else {
                commit.operations.append(.remove(key: key))
            }
            if let (key, stored) = try storedOrigin(of: object.plan) {
                commit.guards.append(.key(key, revision: object.there.originVersion))
                commit.operations.append(.put(key: key, value: stored, expiresIn: nil))
            }
        }
        try shared.connection.checkLimits(commit)
        return SyncedCommit(commit: commit, keeping: nil)
    }

    /// With the entries of the indexes that are built over the objects there; `nil` where this type declares none.
    ///
    /// - Throws: `AttemptLost` where something is not as it was read before; `.notUnique`, `.tooLarge`.
    func commitKeepingIndexes(of planned: [Planned]) async throws -> SyncedCommit? {
        guard let repository else { return nil }
        let attempt = SharedTransaction(
            shared.workspace, isFirst: false, before: shared.workspace.callEnd)
        let receiptKey = try receipts.engineKey(receipt.key)
        var versions = [
            receiptKey: receipt.version, try receipts.engineKey(store.key): store.version,
        ]
        var stored: [(key: [UInt8], value: [UInt8])] = []
        for object in planned {
            versions[try shared.engineKey(object.plan.attempt.key)] = object.there.version
            guard let origin = try storedOrigin(of: object.plan) else { continue }
            versions[origin.key] = object.there.originVersion
            stored.append(origin)
        }
        // Whatever is read is guarded.
        try await attempt.fetch(Array(versions.keys))
        for (key, version) in versions where attempt.version(ofRead: key) != version {
            throw AttemptLost()
        }
        for object in planned {
            let sent = object.plan.attempt
            try await attempt.change(sent.key, to: sent.result, in: repository)
        }
        for (key, value) in stored { try attempt.write(value, forKey: key) }
        try attempt.write(try storedName(of: planned), forKey: receiptKey)
        guard let commit = try await attempt.commit() else { return nil }
        try shared.connection.checkLimits(commit)
        return SyncedCommit(commit: commit, keeping: attempt)
    }

    /// What the receipt has once the commit was made.
    private func storedName(of planned: [Planned]) throws -> [UInt8] {
        try receipts.stored(planned[0].plan.attempt.name, .codable())
    }

    private func storedOrigin(of plan: Plan) throws -> (key: [UInt8], value: [UInt8])? {
        guard let origin = plan.origin, let key = reading.originKey(plan.attempt.key) else {
            return nil
        }
        return (key, try origins.stored(origin, .codable()))
    }

    /// - Returns: the revision; `nil` where another device was first.
    func make(_ prepared: SyncedCommit, of attempts: [SyncedAttempt<Item>]) async throws -> UInt64?
    {
        // What the engine does not take is not written down as being sent.
        try await records.note(attempts)
        let connection = shared.connection
        let deadline = shared.workspace.callEnd
        let outcome: SharedOutcome
        if let keeping = prepared.keeping {
            outcome = try await connection.commit(prepared.commit, before: deadline)
            connection.forgetCatalogs(of: keeping, after: outcome)
        } else {
            outcome = try await connection.commit(
                prepared.commit, byKeysOf: [shared.name], before: deadline)
        }
        guard case .committed(let revision) = outcome else {
            try await takeWhatIsThere()
            return nil
        }
        receipt = Entry(
            key: receipt.key, value: attempts[0].name, version: revision,
            in: try receipts.checkedName())
        return revision
    }

    /// Something is not as it was read before.
    func takeWhatIsThere() async throws {
        receipt = try await receipts.loadEntry(receipt.key, as: String.self)
        try await checkStore()
    }
}
