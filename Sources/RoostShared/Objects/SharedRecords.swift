import Roost
import RoostIO

extension SharedConnectionState {
    /// How many requests for single keys are made at once.
    private static var requestCountAtOnce: Int { 16 }

    /// The records of keys at a revision, in the keys' order; several requests at once.
    func records(
        _ keys: [[UInt8]], at revision: UInt64?, before deadline: ContinuousClock.Instant
    ) async throws -> [SharedRecord?] {
        var found = [SharedRecord?](repeating: nil, count: keys.count)
        try await withThrowingTaskGroup(of: (Int, SharedRecord?).self) { group in
            var next = 0
            func add() {
                guard next < keys.count else { return }
                let place = next
                next += 1
                group.addTask {
                    (
                        place,
                        try await self.record(keys[place], at: revision, before: deadline).record
                    )
                }
            }
            for _ in 0..<Self.requestCountAtOnce { add() }
            while let (place, record) = try await group.next() {
                found[place] = record
                add()
            }
        }
        return found
    }
}

extension SharedTransaction {
    /// Reads many keys, several at once, so that the calls after find them.
    nonisolated(nonsending) func prefetch(
        _ keys: [String], in dictionary: SharedDictionary
    ) async throws {
        try await fetch(Array(Set(try keys.map { try engineKey($0, dictionary) })))
    }
}
