import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// Random puts, removals, clears, reopenings and jumps of the clock, with flushes and merges after
/// every few kilobytes, against a plain dictionary.
@Suite struct ExpiryModelTests {
    private struct Entry {
        var value: [UInt8]
        var deadline: Deadline
    }

    private final class Wall: Sendable { let time = Mutex<UInt64>(1_000_000) }

    private final class Run {
        var random: SeededGenerator
        let path: String
        let wall = Wall()
        var model: [String: Entry] = [:]
        /// The latest time that the open engine has read.
        var latest: UInt64 = 0
        private var opened: Engine?
        var engine: Engine { opened! }
        var flushCount: UInt64 = 0
        let name = DictionaryName("d")!
        /// Always there, and expiring: looking at it makes the engine read the clock.
        let sentinel = "sentinel"

        init(seed: UInt64, path: String) {
            random = SeededGenerator(seed: seed)
            self.path = path
        }

        func open() async throws {
            var configuration = EngineConfiguration()
            configuration.shardCount = 1 << random.below(3)
            configuration.durability = .process
            configuration.memoryBudgetBytes = 1 << 16
            configuration.flushThresholdBytes = 4 << 10
            configuration.backlogLimitBytes = 1 << 20
            configuration.wallClock = { [wall] in wall.time.withLock { $0 } }
            opened = try await Engine.open(
                at: path, fileSystem: PosixFileSystem(), configuration: configuration)
            latest = 0
            try await put(sentinel, .init(milliseconds: 1 << 60))
            try noteTime()
        }

        /// The engine's time and the model's are the same afterwards.
        func noteTime() throws {
            #expect(try engine.contains(sentinel, prefix: name.prefixBytes))
            latest = max(latest, wall.time.withLock { $0 })
        }

        func put(_ key: String, _ deadline: Deadline) async throws {
            let payload = random.bytes(1 + random.below(300))
            let value = EncodedValue(kind: ValueKind.bytes.rawValue, payload: .bytes(payload))
                .with(deadline: deadline)
            _ = try await engine.write(
                value, key: key, name: name, durability: random.once(in: 8) ? .synced : nil)
            model[key] = Entry(value: payload, deadline: deadline)
        }

        func step() async throws {
            let key = "key-\(random.below(25))"
            switch random.below(20) {
            case 0..<5: try await put(key, .never)
            case 5..<12:
                try await put(
                    key, .init(milliseconds: wall.time.withLock { $0 } + UInt64(random.below(400))))
            case 12:
                _ = try await engine.write(nil, key: key, name: name, durability: nil)
                model[key] = nil
            case 13..<16: wall.time.withLock { $0 += UInt64(random.below(200)) }
            case 16: wall.time.withLock { $0 -= UInt64(random.below(300)) }
            case 17: if random.once(in: 3) { try await engine.compact() }
            case 18 where random.once(in: 4):
                flushCount += engine.statistics.flushCount
                try await engine.close()
                // A new opening knows only the wall clock; what is gone on disk stays gone, so the
                // clock is not after here.
                wall.time.withLock { $0 = max($0, latest) }
                try await open()
            default: break
            }
            try noteTime()
            try check(key)
        }

        func live(_ key: String) -> [UInt8]? {
            guard let entry = model[key], entry.deadline.milliseconds > latest else { return nil }
            return entry.value
        }

        func check(_ key: String) throws {
            #expect(try payload(key) == live(key))
            #expect(try engine.contains(key, prefix: name.prefixBytes) == (live(key) != nil))
        }

        func payload(_ key: String) throws -> [UInt8]? {
            guard let found = try engine.find(key, name: name) else { return nil }
            return withExtendedLifetime(found) { found in
                Array(found.bytes.dropFirst(ValueHeader(found.bytes)!.sizeBytes))
            }
        }

        func checkAll() throws {
            for key in model.keys { try check(key) }
            var keys: [String] = []
            let scan = try engine.view().scan(name)
            while let recordKey = scan.recordKey {
                keys.append(String(decoding: recordKey.dropFirst(name.prefix.count), as: UTF8.self))
                try scan.moveToNext()
            }
            #expect(keys == model.keys.filter { live($0) != nil }.sorted())
        }
    }

    @Test(arguments: 0..<4)
    func whatHasExpiredIsNeverSeenAndNothingElseIsMissing(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        try await withTemporaryDirectory { path in
            let run = Run(seed: seed, path: path)
            try await run.open()
            for step in 0..<400 {
                do {
                    try await run.step()
                    if step % 40 == 39 { try run.checkAll() }
                } catch {
                    Issue.record("seed \(seed) step \(step): \(error)")
                    break
                }
            }
            #expect(run.flushCount + run.engine.statistics.flushCount > 0, "seed \(seed)")
            // Once all is past, compaction leaves what stays and nothing else.
            run.wall.time.withLock { $0 = max($0, run.latest) + 1000 }
            try run.noteTime()
            try run.checkAll()
            try await run.engine.compact()
            try run.checkAll()
            let stays = run.model.keys.count { run.live($0) != nil }
            #expect(run.engine.statistics.snapshotRecordCount == UInt64(stays), "seed \(seed)")
            try await run.engine.close()
        }
    }
}
