import Roost
import Synchronization

@testable import RoostReplica

/// A storage in memory, some of whose requests fail: before or after they took effect, or they take effect
/// some time later, or leave an empty object. It can be switched off.
final class FaultyStorage: ObjectStorage {
    struct Faults: Sendable {
        /// Of so many requests about one fails; none where it is zero.
        var oneIn = 0
        var isOff = false
        /// What is thrown while it is off; an error of its own where there is none.
        var error: RoostError?
        /// How many conditional puts were refused as it was off.
        var refusedEntryCount = 0
        /// Up to so long a request takes.
        var delay = Duration.zero
        /// Puts of names that begin with it fail.
        var refusedPrefix: String?

        fileprivate func checkPut(_ name: String) throws {
            if let refusedPrefix, name.hasPrefix(refusedPrefix) { throw Failed() }
        }
    }

    let memory = MemoryStorage()
    let faults: Mutex<Faults>
    private let numbers: Mutex<SeededNumbers>

    init(_ faults: Faults = .init(), seed: UInt64 = testSeed) {
        self.faults = Mutex(faults)
        numbers = Mutex(SeededNumbers(seed: seed))
    }

    private struct Failed: Error {}

    private func pass<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let faults = faults.withLock { $0 }
        if faults.isOff { throw faults.error ?? Failed() }
        let (fate, part) = numbers.withLock { numbers in
            (
                faults.oneIn == 0 ? 3 : Int.random(in: 0..<(3 * faults.oneIn), using: &numbers),
                Double.random(in: 0...1, using: &numbers)
            )
        }
        if faults.delay > .zero { try await Task.sleep(for: faults.delay * part) }
        switch fate {
        case 0: throw Failed()
        case 1:
            _ = try await body()
            throw Failed()
        case 2:
            // Answered too late, and carried out later still.
            Task.detached {
                try await Task.sleep(for: .milliseconds(30))
                _ = try await body()
            }
            throw Failed()
        default: return try await body()
        }
    }

    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        try await pass { [memory] in
            try await memory.get(name, maximumSizeBytes: maximumSizeBytes)
        }
    }

    func download(_ name: String, to receive: ([UInt8]) async throws -> Void) async throws -> Bool {
        guard let bytes = try await get(name, maximumSizeBytes: .max) else { return false }
        try await receive(bytes)
        return true
    }

    func put(_ name: String, _ content: ObjectContent) async throws {
        let bytes = try await content.readAll()
        try faults.withLock { $0 }.checkPut(name)
        try await pass { [memory] in try await memory.put(name, ObjectContent(bytes)) }
    }

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        faults.withLock { if $0.isOff { $0.refusedEntryCount += 1 } }
        try faults.withLock { $0 }.checkPut(name)
        let oneIn = faults.withLock { $0.isOff ? 0 : $0.oneIn }
        if oneIn > 0, name.hasPrefix(ObjectName.journal),
            numbers.withLock({ $0.isOne(in: 4 * oneIn) })
        {
            // As some servers do with a request that breaks off between its head and its body.
            _ = try await memory.putIfAbsent(name, [])
            throw Failed()
        }
        return try await pass { [memory] in try await memory.putIfAbsent(name, bytes) }
    }

    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        try await pass { [memory] in try await memory.list(prefix: prefix, after: name) }
    }

    func delete(_ name: String) async throws {
        try await pass { [memory] in try await memory.delete(name) }
    }
}

/// A storage in memory that makes deletions when it is told to.
final class LateDeletions: ForwardingStorage {
    let memory = MemoryStorage()
    var base: any ObjectStorage { memory }
    private let held = Mutex<[String]>([])

    /// What is to be deleted.
    var heldNames: [String] { held.withLock { $0 } }

    func release() async throws {
        for name in heldNames { try await memory.delete(name) }
    }

    func delete(_ name: String) async throws { held.withLock { $0.append(name) } }
}
