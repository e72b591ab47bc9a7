import Roost
import RoostServices
import Synchronization
import Testing

@Suite struct CacheTests {
    /// What the maker read may be older than the removal.
    @Test func aValueThatIsRemovedWhileItIsMadeIsNotKept() async throws {
        let workspace = try await Workspace.inMemory()
        let cache = Cache<String>(workspace, lifetime: .seconds(60))
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        async let older = cache.value(forKey: "k") {
            beginning.yield()
            for await _ in gate { break }
            return "old"
        }
        for await _ in begun { break }
        try await cache.remove("k")
        opening.yield()
        #expect(try await older == "old")
        #expect(try await cache.value(forKey: "k") { "new" } == "new")
        #expect(try await cache.value(forKey: "k") { "newer" } == "new")
        try await workspace.close()
    }

    @Test func whoWaitsForAValueMayBeCancelled() async throws {
        let workspace = try await Workspace.inMemory()
        let cache = Cache<String>(workspace, lifetime: .seconds(60))
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let isCancelled = Atomic(false)
        let first = Task {
            do {
                _ = try await cache.value(forKey: "k") {
                    beginning.yield()
                    for await _ in gate { break }
                    return "made"
                }
            } catch is CancellationError {
                isCancelled.store(true, ordering: .relaxed)
            }
        }
        for await _ in begun { break }
        async let second = cache.value(forKey: "k") { "another" }
        first.cancel()
        for _ in 0..<1_000 where !isCancelled.load(ordering: .relaxed) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let hasEnded = isCancelled.load(ordering: .relaxed)
        #expect(hasEnded)
        opening.yield()
        #expect(try await second == "made")
        _ = await first.result
        try await workspace.close()
    }
}
