import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine
@testable import RoostLog

private struct Fixture: Sendable {
    let storage = MemoryStorage()
    let seed = HashSeed(first: 3, second: 4)
    let name = DictionaryName("d")!
    let feed = ChangeFeed()
    let shards: [Shard]

    init() {
        shards = [feed, feed].map { [storage] feed in
            Shard(
                hashSeed: HashSeed(first: 3, second: 4), residentBudgetBytes: 1 << 20, feed: feed,
                storage: storage)
        }
    }

    /// A shard is written to whatever the hash says: only the table's order depends on it.
    func write(_ number: Int, _ key: String, shard: Int) async throws {
        let value = EncodedValue(
            kind: ValueKind.uint8.rawValue, payload: .inline(UInt64(number), count: 1))
        let hash = name.withRecordKey(key) { seed.hash($0) }
        _ = try await shards[shard].write(value, key: key, name: name, hash: hash)
    }

    func watch(isOrdered: Bool = true) -> Watcher {
        feed.add { id in
            Watcher(
                id: id, target: WatchTarget(prefix: "", in: name), isOrdered: isOrdered,
                buffering: .bounded(100), history: nil, onReady: nil)
        } register: { id, observedCount in
            for shard in shards {
                shard.published.withLock { state in
                    if state.watch(WatchTarget(prefix: "", in: name), by: id) { observedCount += 1 }
                }
            }
            return nil
        }
    }
}

@Suite struct ChangeFeedTests {
    /// The story: a change is in the log and its writer is held up before it is visible; a
    /// watcher begins, and a later change of another shard is made. The watcher is told of both,
    /// the earlier one first.
    @Test func aWatcherThatBeginsDuringAnAppendIsToldOfItInOrder() async throws {
        let fixture = Fixture()
        let gate = Gate()
        gate.close()
        fixture.storage.hook.withLock { $0 = { gate.pass() } }
        let blocked = taskOnItsOwnThread { try await fixture.write(1, "a", shard: 0) }
        await gate.waitForArrival()
        let watcher = fixture.watch()
        fixture.storage.hook.withLock { $0 = nil }
        try await fixture.write(2, "b", shard: 1)
        #expect(watcher.nextReady() == nil)
        gate.open()
        try await blocked.value
        #expect(watcher.nextReady()?.version == 1)
        #expect(watcher.nextReady()?.version == 2)
        #expect(watcher.nextReady() == nil)
    }

    @Test func anAppendThatFailsHoldsNothingUp() async throws {
        let fixture = Fixture()
        let held = Mutex<Watcher?>(nil)
        fixture.storage.hook.withLock {
            $0 = {
                held.withLock { $0 = fixture.watch() }
                throw RoostError(.io, "the test lets this append fail")
            }
        }
        await #expect(throws: RoostError.self) { try await fixture.write(1, "a", shard: 0) }
        fixture.storage.hook.withLock { $0 = nil }
        try await fixture.write(2, "a", shard: 0)
        let watcher = held.withLock { $0! }
        #expect(watcher.nextReady()?.version == 2)
    }

    @Test func aBatchIsToldOnceItIsVisibleAndInOrder() async throws {
        let fixture = Fixture()
        let watcher = fixture.watch()
        var batch = EncodedBatch(hashSeed: fixture.seed)
        batch.put(
            EncodedValue(kind: 1, payload: .inline(1, count: 1)), forKey: "a", in: fixture.name)
        let laidOut = batch
        let staged = try fixture.feed.stage {
            try fixture.storage.append(laidOut, isAwaited: true)
        }
        try await fixture.write(2, "b", shard: 1)
        #expect(watcher.nextReady() == nil)
        let wakes = fixture.feed.publishStaged(staged.sequence) { _ in
            Commit(staged, changes: batch.changes)
        }
        wakes()
        #expect(watcher.nextReady()?.version == 1)
        #expect(watcher.nextReady()?.version == 2)
        let aborted = try fixture.feed.stage {
            try fixture.storage.append(laidOut, isAwaited: true)
        }
        try await fixture.write(4, "b", shard: 1)
        fixture.feed.abort(aborted.sequence)
        #expect(watcher.nextReady()?.version == 4)
    }

    /// The story: a batch waits long for its sync, and only keys' values are watched meanwhile, which are told at
    /// once: what is kept for others is kept for nobody.
    @Test func whereNobodyWatchesInOrderNoBatchIsKept() async throws {
        let fixture = Fixture()
        let unordered = fixture.watch(isOrdered: false)
        var batch = EncodedBatch(hashSeed: fixture.seed)
        batch.put(
            EncodedValue(kind: 1, payload: .inline(1, count: 1)), forKey: "a", in: fixture.name)
        let laidOut = batch
        let staged = try fixture.feed.stage {
            try fixture.storage.append(laidOut, isAwaited: true)
        }
        func told(_ watcher: Watcher) -> [UInt64] { watcher.takeAll().events.map(\.version) }
        for number in 0..<100 { try await fixture.write(number, "b", shard: 1) }
        #expect(fixture.feed.heldCount == 0)
        #expect(told(unordered) == Array(2...101))
        // Who comes now is told of what comes now, once what is staged is resolved.
        let ordered = fixture.watch()
        try await fixture.write(1, "b", shard: 1)
        #expect(fixture.feed.heldCount == 1)
        #expect(told(unordered) == [102])
        #expect(told(ordered) == [])
        // And with it goes what was kept for it.
        let other = fixture.watch()
        fixture.feed.remove(other) {}
        #expect(fixture.feed.heldCount == 1)
        fixture.feed.publishStaged(staged.sequence) { _ in Commit(staged, changes: batch.changes)
        }()
        #expect(told(ordered) == [1, 102])
        #expect(told(unordered) == [1])
        _ = try fixture.feed.stage { try fixture.storage.append(laidOut, isAwaited: true) }
        try await fixture.write(2, "b", shard: 1)
        #expect(fixture.feed.heldCount == 1)
        fixture.feed.remove(ordered) {}
        #expect(fixture.feed.heldCount == 0)
    }

    @Test func theKeysThatAShardWatchesAreFoundAndNoOthers() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let name = DictionaryName("d")!
        let hashSeed = HashSeed(first: seed, second: 1)
        var watches = ShardWatches()
        var model: [String: Int] = [:]
        for step in 0..<3000 {
            let key = "\(random.below(400))"
            let target = WatchTarget(key: key, in: name, hashSeed: hashSeed)
            if random.below(10) < (step < 1500 ? 7 : 3) {
                watches.add(target)
                model[key, default: 0] += 1
            } else if let count = model[key] {
                watches.remove(target)
                model[key] = count == 1 ? nil : count - 1
            }
            let probe = "\(random.below(400))"
            let isFound = name.withRecordKey(probe) {
                watches.contains($0, hash: hashSeed.hash($0))
            }
            #expect(isFound == (model[probe] != nil), "seed \(seed) step \(step)")
            #expect(watches.isEmpty == model.isEmpty)
        }
    }
}
