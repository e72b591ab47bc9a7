import RoostFormat
import RoostIO

// What is measured, and how. A write looks at one byte of `EngineCondition` anyway; where
// somebody observes, a flag in it leads here, and else nowhere. docs/decisions/0111.

extension Engine {
    /// Runs `body` and tells the observer, where there is one, how long it took.
    package nonisolated(nonsending) func observe<Result>(
        _ kind: ObservedOperation.Kind,
        _ body: nonisolated(nonsending) (inout ObservedOperation) async throws -> Result
    ) async throws -> Result {
        var operation = ObservedOperation(kind)
        guard let observer = configuration.observer else { return try await body(&operation) }
        let span = observer.began(kind)
        let begin = ContinuousClock.now
        do {
            let result = try await body(&operation)
            operation.duration = ContinuousClock.now - begin
            span?.ended(operation, nil)
            observer.measured(operation)
            return result
        } catch {
            operation.duration = ContinuousClock.now - begin
            span?.ended(operation, error)
            observer.measured(operation)
            tellFailure(error)
            throw error
        }
    }

    /// A put or a removal that was chosen to be measured, or has to wait.
    nonisolated(nonsending) func writeObserved(
        _ value: EncodedValue?, key: String, name: DictionaryName, durability: Durability?
    ) async throws -> UInt64 {
        let durability = durability ?? configuration.durability
        if durability == .synced {
            return try await observe(.write) { operation in
                operation.cause = try await makeRoom() ?? .sync
                return try await writeInTurn(value, key: key, name: name, durability)
            }
        }
        guard let observer = configuration.observer else {
            _ = try await makeRoom()
            return try await writeInTurn(value, key: key, name: name, durability)
        }
        var operation = ObservedOperation(.write)
        let begin = ContinuousClock.now
        defer {
            operation.duration = ContinuousClock.now - begin
            observer.measured(operation)
        }
        do {
            operation.cause = try await makeRoom()
            if operation.cause == nil,
                let sequence = try writeAtOnceNow(
                    value, key: key, prefix: name.prefixBytes, durability)
            {
                operation.isSampled = true
                return sequence
            }
            operation.cause = operation.cause ?? .turn
            return try await writeInTurn(value, key: key, name: name, durability)
        } catch {
            tellFailure(error)
            throw error
        }
    }

    nonisolated(nonsending) func commitObserved(
        _ batch: EncodedBatch, _ durability: Durability
    ) async throws -> UInt64 {
        try await observe(.batch) { operation in
            operation.cause = try await makeRoom() ?? (durability == .synced ? .sync : nil)
            return try await commitInTurn(batch, durability)
        }
    }

    /// Waits where writers wait; for what. Throws where the log may not grow.
    nonisolated(nonsending) func makeRoom() async throws -> ObservedOperation.Cause? {
        let cause = condition.waitCause
        if cause != nil || condition.isOverdue { try await waitForRoom() }
        return cause
    }

    /// Tells of a write that failed through no fault of its caller.
    @inline(never)
    func tellFailure(_ error: any Error) {
        guard let observer = configuration.observer, let error = error as? RoostError,
            error.code == .outOfSpace || error.code == .io
        else { return }
        observer.writeFailed(error)
    }
}
