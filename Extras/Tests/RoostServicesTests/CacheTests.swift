import Logging
import RoostShared
import Synchronization
import Testing

@testable import Roost
@testable import RoostServices

@Suite struct CacheTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

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

    /// The first removal gives up its wait, and the second one has to find what the first one waited for.
    @Test func aRemovalWaitsForAValueThatAnotherRemovalHasFoundBeingStored() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("cache")
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let cache = Cache<String>(values, logger: silent) { value, key in
            if value == "old" {
                beginning.yield()
                for await _ in gate { break }
            }
            try await values.set(value, forKey: key)
        }
        let older = Task { try await cache.value(forKey: "k") { "old" } }
        for await _ in begun { break }
        let first = Task { try await cache.remove("k") }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let hasReturned = Atomic(false)
        async let second: Void = {
            try await cache.remove("k")
            hasReturned.store(true, ordering: .relaxed)
        }()
        try await Task.sleep(for: .milliseconds(100))
        let returnedEarly = hasReturned.load(ordering: .relaxed)
        #expect(!returnedEarly)
        opening.yield()
        try await second
        #expect(try await older.value == "old")
        #expect(try await cache.value(forKey: "k") { "new" } == "new")
        try await workspace.close()
    }

    /// As after a deploy whose values have a property more.
    private struct Old: Codable { var name: String }
    private struct New: Codable {
        var name: String
        var size: Int
    }

    @Test func aStoredValueThatDoesNotDecodeIsMadeAnew() async throws {
        let workspace = try await Workspace.inMemory()
        let older = Cache<Old>(workspace, lifetime: .seconds(60))
        let newer = Cache<New>(workspace, lifetime: .seconds(60))
        let numbers = Cache<Int>(workspace, lifetime: .seconds(60))
        _ = try await older.value(forKey: "k") { Old(name: "old") }
        #expect(try await newer.value(forKey: "k") { New(name: "new", size: 1) }.size == 1)
        #expect(try await newer.value(forKey: "k") { New(name: "newer", size: 2) }.size == 1)
        #expect(try await numbers.value(forKey: "k") { 3 } == 3)
        #expect(try await numbers.value(forKey: "k") { 4 } == 3)
        try await workspace.close()
    }

    /// Takes what is logged.
    private struct Lines: LogHandler {
        let lines: Ledger
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        final class Ledger: Sendable {
            private let texts = Mutex<[String]>([])
            var all: [String] { texts.withLock { $0 } }
            func add(_ text: String) { texts.withLock { $0.append(text) } }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.add("\(event.message) \(event.metadata ?? [:])")
        }
    }

    /// In files and over engines alike.
    @Test func theValueOfAKeyThatIsTooLongIsMadeEachTime() async throws {
        let ledger = Lines.Ledger()
        let logger = Logger(label: "test") { _ in Lines(lines: ledger) }
        let key = String(repeating: "k", count: 100_000)
        func check(_ workspace: some KeyValueWorkspace) async throws {
            let cache = Cache<String>(workspace, lifetime: .seconds(60), logger: logger)
            #expect(try await cache.value(forKey: key) { "made" } == "made")
            #expect(try await cache.value(forKey: key) { "again" } == "again")
            let error = await #expect(throws: RoostError.self) { try await cache.remove(key) }
            #expect(error?.code == .keyTooLarge)
        }
        try await check(Workspace.inMemory())
        #expect(ledger.all.count == 2)
        try await check(SharedWorkspace.connect(to: .memory(MemoryEngine()), namespace: "test"))
        #expect(ledger.all.count == 4)
        for line in ledger.all {
            #expect(line.contains("kkk") && line.utf8.count < 1000, "\(line.utf8.count) bytes")
        }
    }

    @Test func aValueThatCannotBeStoredIsReturnedAllTheSame() async throws {
        let fileSystem = FullFileSystem()
        let workspace = try await Workspace.open(
            at: "(full)", configuration: .init(), fileSystem: fileSystem)
        let cache = Cache<String>(workspace, lifetime: .seconds(60), logger: silent)
        fileSystem.setFull(true)
        #expect(try await cache.value(forKey: "k") { "made" } == "made")
        #expect(fileSystem.refusedCount > 0)
        // Nor does it stand in the way of a removal.
        await #expect(throws: RoostError.self) { try await cache.remove("k") }
        fileSystem.setFull(false)
        #expect(try await cache.value(forKey: "k") { "again" } == "again")
        try await cache.remove("k")
        #expect(try await cache.value(forKey: "k") { "anew" } == "anew")
        try await workspace.close()
    }
}
