import Foundation
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

@Suite(.serialized, .timeLimit(.minutes(5))) struct IntervalSyncTests {
    private static let mebibyte: UInt64 = 1 << 20

    @Test func writersGetAsMuchRoomAsTheDiskWritesInHalfTheInterval() {
        let interval = Duration.milliseconds(50)
        func room(_ synced: UInt64, _ milliseconds: Int, _ before: UInt64) -> UInt64 {
            IntervalSync.room(
                after: synced * Self.mebibyte, in: .milliseconds(milliseconds), interval: interval,
                before: before * Self.mebibyte) / Self.mebibyte
        }
        // 100 MiB in 250 ms: 10 MiB in 25.
        #expect(room(100, 250, 32) == 10)
        // Never less than what a disk is asked for at least, and never more for being late.
        #expect(room(100, 25_000, 32) == 2)
        #expect(room(1, 500, 32) == 32)
        #expect(room(8, 50, 2) == 2)
        // Twice as much where it was used and took little.
        #expect(room(32, 5, 32) == 64)
        #expect(room(3, 5, 32) == 32)
        #expect(room(32, 20, 32) == 32)
    }

    @Test func aSyncBeginsBeforeTheIntervalsEndByWhatItIsExpectedToTake() {
        func lead(_ milliseconds: Int) -> Duration {
            IntervalSync.lead(of: .milliseconds(milliseconds), interval: .milliseconds(100))
        }
        #expect([0, 10, 25, 300].map(lead) == [0, 10, 25, 25].map { .milliseconds($0) })
    }

    /// A disk that takes 30 of 200 ms for each sync: what is written now and then is on disk after the interval.
    @Test func aWriteIsOnDiskAfterTheIntervalThoughASyncTakesItsTime() async throws {
        try await withTemporaryDirectory { path in
            let fileSystem = ObservedFileSystem { call in
                guard case .syncData(let name) = call, name.hasPrefix("log") else { return }
                Thread.sleep(forTimeInterval: 0.03)
            }
            var configuration = EngineConfiguration()
            configuration.durability = .interval(.milliseconds(200))
            let engine = try await Engine.open(
                at: path, fileSystem: fileSystem, configuration: configuration)
            var ages: [Duration] = []
            // With no lead none is below 230 ms, so that one is proof.
            for number in 0..<200
            where ages.count < 8 || ages[1...].min()! >= .milliseconds(225) {
                let written = ContinuousClock.now
                _ = try await engine.write(
                    SampleNumbers.value(1), key: "\(number)", name: SampleNumbers.name,
                    durability: nil)
                while engine.statistics.oldestUnsyncedWriteAge != nil {
                    try await Task.sleep(for: .milliseconds(1))
                }
                ages.append(ContinuousClock.now - written)
            }
            // The first sync has no other to go by.
            #expect(ages[0] > .milliseconds(200))
            #expect(ages[1...].min()! < .milliseconds(225), "\(ages)")
            try await engine.close()
        }
    }

    /// Another interval than the usual one has a timer of its own.
    @Test func theOldestWriteIsOneOfAnyInterval() async throws {
        var configuration = EngineConfiguration()
        configuration.durability = .process
        let engine = try await Engine.open(
            at: "/other-interval", fileSystem: MemoryFileSystem(), configuration: configuration)
        func write(_ key: String, _ durability: Durability) async throws {
            _ = try await engine.write(
                SampleNumbers.value(1), key: key, name: SampleNumbers.name, durability: durability)
        }
        try await write("a", .process)
        #expect(engine.statistics.oldestUnsyncedWriteAge == nil)
        try await write("b", .interval(.seconds(30)))
        try await Task.sleep(for: .milliseconds(20))
        let age = try #require(engine.statistics.oldestUnsyncedWriteAge)
        #expect(age >= .milliseconds(20))
        try await engine.synchronize()
        // What comes now is not on disk, and need not be.
        try await write("c", .process)
        #expect(engine.statistics.oldestUnsyncedWriteAge == nil)
        // The timer has run since the first of them.
        let begin = ContinuousClock.now
        try await write("d", .interval(.seconds(30)))
        let next = try #require(engine.statistics.oldestUnsyncedWriteAge)
        #expect(next <= .now - begin)
        try await engine.close()
    }

    /// The story: an interval that was meant to be for ever ended the program, as no clock counts so far.
    @Test func anIntervalMayBeAsLongAsADurationIs() async throws {
        var configuration = EngineConfiguration()
        configuration.durability = .interval(.seconds(Int64.max))
        let engine = try await Engine.open(
            at: "/longest-interval", fileSystem: MemoryFileSystem(), configuration: configuration)
        for (key, seconds) in [("a", Int64.max), ("b", Int64.max - 1)] {
            _ = try await engine.write(
                SampleNumbers.value(1), key: key, name: SampleNumbers.name,
                durability: .interval(.seconds(seconds)))
        }
        // Behind the timers, on their thread.
        try await engine.synchronize()
        try await engine.close()
    }

    /// An engine whose writes are acknowledged at once, and whose disk takes nothing; the first write's sync has failed.
    private func withFailedSync() async throws -> Engine {
        let fileSystem = ObservedFileSystem(MemoryFileSystem()) { call in
            guard case .syncData(let name) = call, name.hasPrefix("log") else { return }
            throw RoostError(.io, "the disk takes nothing")
        }
        var configuration = EngineConfiguration()
        configuration.durability = .interval(.milliseconds(1))
        let engine = try await Engine.open(
            at: "/failing", fileSystem: fileSystem, configuration: configuration)
        _ = try await engine.write(
            SampleNumbers.value(1), key: "a", name: SampleNumbers.name, durability: nil)
        while engine.condition.isWritableNow { try await Task.sleep(for: .milliseconds(1)) }
        return engine
    }

    /// The story: a write was acknowledged, and its sync failed behind it. The program made no other call than the closing,
    /// which returned as if all was on disk.
    @Test func aSyncThatFailedBehindTheWritesIsToldByTheClosing() async throws {
        let engine = try await withFailedSync()
        for _ in 0..<2 {
            await #expect {
                try await engine.close()
            } throws: {
                ($0 as? RoostError)?.code == .poisoned
            }
        }
    }

    @Test func whatAnotherCallHasToldTheClosingDoesNotTellAgain() async throws {
        let engine = try await withFailedSync()
        await #expect(throws: RoostError.self) {
            try await engine.write(
                SampleNumbers.value(2), key: "a", name: SampleNumbers.name, durability: nil)
        }
        try await engine.close()
    }

    @Test func whatABackupHasToldTheClosingDoesNotTellAgain() async throws {
        let fileSystem = ObservedFileSystem(MemoryFileSystem()) { call in
            guard case .syncData(let name) = call, name.hasPrefix("log") else { return }
            throw RoostError(.io, "the disk takes nothing")
        }
        var configuration = EngineConfiguration()
        configuration.durability = .process
        let engine = try await Engine.open(
            at: "/failing", fileSystem: fileSystem, configuration: configuration)
        _ = try await engine.write(
            SampleNumbers.value(1), key: "a", name: SampleNumbers.name, durability: nil)
        let target = try MemoryFileSystem().openDirectory(at: "/backup", create: true)
        await #expect {
            _ = try await engine.backup(
                to: target, sharing: nil, verifiesShared: false, on: WorkerThread(name: "test")
            ) { _, _ in }
        } throws: {
            ($0 as? RoostError)?.code == .poisoned
        }
        try await engine.close()
    }

    /// The story: writers that never pause gave each sync what they had written during the one before,
    /// so that each took longer than the last. The disk here writes 40 MiB a second, the writers more.
    @Test func writersThatNeverPauseWaitForTheDisk() async throws {
        try await withTemporaryDirectory { path in try await writeWithoutPause(path) }
    }

    /// Tells writers that they may end.
    private final class Ending: Sendable {
        let isOver = Atomic(false)
    }

    private func writeWithoutPause(_ path: String) async throws {
        let written = Mutex<@Sendable () -> UInt64>({ 0 })
        let synced = Atomic<UInt64>(0)
        let fileSystem = ObservedFileSystem { call in
            guard case .syncData(let name) = call, name.hasPrefix("log") else { return }
            let now = written.withLock { $0 }()
            let before = synced.exchange(now, ordering: .relaxed)
            Thread.sleep(forTimeInterval: Double(now - min(now, before)) / Double(40 << 20))
        }
        var configuration = EngineConfiguration()
        configuration.durability = .interval(.milliseconds(200))
        configuration.shardCount = 4
        let engine = try await Engine.open(
            at: path, fileSystem: fileSystem, configuration: configuration)
        written.withLock { $0 = { [log = engine.log!] in log.totalBytes } }
        let name = DictionaryName("d")!
        let value = EncodedValue(
            kind: 1, payload: .bytes([UInt8](repeating: 7, count: 64 << 10)))
        let begin = ContinuousClock.now
        let end = begin + .seconds(5)
        // Ends once enough was looked at, which takes longer where the machine is busy.
        let ending = Ending()
        let ages = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for writer in 0..<3 {
                group.addTask {
                    var number = 0
                    while !ending.isOver.load(ordering: .relaxed) {
                        number += 1
                        let key = "\(writer)-\(number % 50)"
                        let isMade = try engine.writeAtOnce(
                            value, key: key, prefix: name.prefixBytes, durability: nil)
                        if isMade == nil {
                            _ = try await engine.write(
                                value, key: key, name: name, durability: nil)
                        }
                        if number % 16 == 0 { await Task.yield() }
                    }
                    return []
                }
            }
            group.addTask {
                var ages: [Duration] = []
                defer { ending.isOver.store(true, ordering: .relaxed) }
                while ContinuousClock.now < end
                    || ages.count < 20 && ContinuousClock.now < end + .seconds(120)
                {
                    try await Task.sleep(for: .milliseconds(5))
                    if ContinuousClock.now > end - .seconds(3),
                        let age = engine.statistics.oldestUnsyncedWriteAge
                    {
                        ages.append(age)
                    }
                }
                return ages
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let median = try #require(ages.isEmpty ? nil : ages.sorted()[ages.count / 2])
        let seconds = Int((ContinuousClock.now - begin).components.seconds)
        let writtenMebibytes = engine.log!.totalBytes >> 20
        print(
            "oldest unsynced write: \(ages.max() ?? .zero), median \(median) of \(ages.count) looks, "
                + "\(writtenMebibytes) MiB written")
        // The median, as a busy machine may stop everybody for a second; without the wait it is several
        // seconds, and as much is written as the log takes.
        #expect(median > .zero && median < .seconds(1))
        #expect(writtenMebibytes < 40 * (seconds + 2))
        written.withLock { $0 = { 0 } }
        try await engine.close()
    }
}
