import Foundation
import Roost
import RoostIO
import Synchronization
import Testing

@testable import RoostShared

/// What a shared workspace looks at before it believes its engine, or asks something of it.
@Suite struct GuardTests {
    private func connect(
        _ engine: HookedEngine, _ clock: WallClock = .system
    ) async throws -> SharedWorkspace {
        try await .connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(120), clock: clock))
    }

    private func put(_ value: String, forKey key: String) -> SharedCommit {
        SharedCommit(operations: [
            .put(key: Array(key.utf8), value: Array(value.utf8), expiresIn: nil)
        ])
    }

    private func expectRefused(
        _ code: RoostError.Code, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: RoostError.self, sourceLocation: sourceLocation) {
            try await body()
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
    }

    // MARK: Limits

    @Test func moreThanTheEngineTakesIsNotSent() async throws {
        let limits = SharedLimits(operationCount: 8, commitSizeBytes: 4096, keySizeBytes: 64)
        let engine = HookedEngine(MemoryEngine(limits: limits))
        let workspace = try await connect(engine)
        let values = workspace.dictionary("values")
        try await values.set(0, forKey: "first")
        let sentCount = Mutex(0)
        engine.set {
            $0.commit = { _ in
                sentCount.withLock { $0 += 1 }
                return nil
            }
        }
        await expectRefused(.tooLarge) {
            try await values.setAll((0..<8).map { ("k\($0)", $0) })
        }
        await expectRefused(.tooLarge) {
            try await values.set([UInt8](repeating: 1, count: 4096), forKey: "large")
        }
        await expectRefused(.keyTooLarge) {
            try await values.set(1, forKey: String(repeating: "k", count: 64))
        }
        #expect(sentCount.withLock { $0 } == 0)
    }

    @Test func theEngineInMemoryTakesNoMoreThanItsLimits() async throws {
        let engine = MemoryEngine(
            limits: SharedLimits(operationCount: 8, commitSizeBytes: 4096, keySizeBytes: 64))
        let many = (0..<9).map {
            SharedOperation.put(key: [UInt8($0)], value: [], expiresIn: nil)
        }
        let large = SharedOperation.put(
            key: [1], value: [UInt8](repeating: 1, count: 4096), expiresIn: nil)
        for operations in [many, [large]] {
            await expectRefused(.tooLarge) {
                _ = try await engine.commit(
                    SharedCommit(operations: operations), before: .now + .seconds(10))
            }
        }
    }

    // MARK: The namespace

    @Test(arguments: ["test/%format", "test/others"])
    func aNamespaceThatOthersWroteIsRefused(key: String) async throws {
        let engine = HookedEngine()
        _ = try await engine.commit(put("roost 9", forKey: key), before: .now + .seconds(10))
        await expectRefused(.unsupportedVersion) { _ = try await connect(engine) }
    }

    /// Another version may make the namespace between the look for it and the writing of its form.
    @Test func aNamespaceThatIsMadeMeanwhileIsNotTakenOver() async throws {
        let engine = HookedEngine()
        engine.set {
            $0.commit = { [memory = engine.engine] _ in
                let other = SharedCommit(operations: [
                    .put(
                        key: Array("test/%format".utf8), value: Array("roost 9".utf8),
                        expiresIn: nil)
                ])
                _ = try await memory.commit(other, before: .now + .seconds(10))
                return nil
            }
        }
        await expectRefused(.unsupportedVersion) { _ = try await connect(engine) }
    }

    // MARK: Marks

    /// The engine removes the record of a mark some time after its last use.
    @Test func aMarkWhoseRecordMayBeGoneIsNotTakenAgain() throws {
        let marks = CommitMarks(try SharedKeys(namespace: "test"))
        var slot = marks.take().slot
        let key = slot.key
        marks.giveBack(slot, setBy: 5)
        slot = marks.take().slot
        #expect(slot.key == key)
        slot.lastUse = .now - SharedMark.lifetime
        marks.giveBack(slot)
        #expect(marks.take().slot.key != key)
    }

    // MARK: The time

    @Test func aClientWhoseClockIsAheadSeesWhatHasNotExpired() async throws {
        let engine = HookedEngine()
        let values = try await connect(engine).dictionary("values")
        try await values.set(1, forKey: "n", expiresIn: .seconds(600))
        let ahead = WallClock { Date.now.addingTimeInterval(3600) }
        let others = try await connect(engine, ahead).dictionary("values")
        #expect(try await others.load("n", as: Int.self) == 1)
    }

    /// The engine has removed the record of a commit that was made, as that takes so long to find out about.
    @Test func aMarkThatMayHaveExpiredSaysNothing() async throws {
        let engine = HookedEngine()
        let connection = SharedConnectionState(
            engine, SharedFormat(try SharedKeys(namespace: "test")), SharedClock(.system), .roost,
            markLifetime: .milliseconds(200))
        let madeCount = Mutex(0)
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                guard !commit.operations.isEmpty, let mark = commit.mark else { return nil }
                let number = madeCount.withLock { count in
                    count += 1
                    return count
                }
                guard number == 1 else { return nil }
                let removal = SharedCommit(operations: [.remove(key: mark.key)])
                for one in [commit, removal] {
                    _ = try await memory.commit(one, before: .now + .seconds(60))
                }
                try await Task.sleep(for: .milliseconds(300))
                throw RoostError(.unknownOutcome, "the answer was lost")
            }
        }
        let error = await #expect(throws: RoostError.self) {
            try await connection.commit(put("1", forKey: "a"), before: .now + .seconds(60))
        }
        #expect(error?.code == .unknownOutcome)
        #expect(madeCount.withLock { $0 } == 1)
    }

    /// The machine's clock is set while the workspace is connected: time passes as the engine says all the same.
    @Test(arguments: [3600, -3600]) func aClockThatIsSetChangesNothing(seconds: Int) async throws {
        let time = SettableTime()
        let engine = HookedEngine()
        let workspace = try await connect(engine, .settable(time))
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n", expiresIn: .seconds(60))
        try await values.set(1, forKey: "short", expiresIn: .milliseconds(50))
        time.advance(by: .seconds(seconds))
        #expect(try await values.load("n", as: Int.self) == 1)
        try await values.set(2, forKey: "m", expiresIn: .seconds(60))
        let others = try await connect(engine).dictionary("values")
        #expect(try await others.load("m", as: Int.self) == 2)
        try await Task.sleep(for: .milliseconds(60))
        #expect(try await values.load("short", as: Int.self) == nil)
    }

    /// An engine's clock may be set too, or another server with another clock take over.
    @Test func theEngineIsAskedForItsTimeAgain() async throws {
        let ahead = Mutex<UInt64>(0)
        let engine = HookedEngine()
        engine.set { $0.time = { WallTime.milliseconds + ahead.withLock { $0 } } }
        let clock = SharedClock(.system, askingInterval: .zero)
        try await clock.adjust(to: engine, before: .now + .seconds(10))
        #expect(clock.milliseconds < WallTime.milliseconds + 60_000)
        ahead.withLock { $0 = 3_600_000 }
        clock.keepAdjusted(to: engine)
        let end = ContinuousClock.now + .seconds(60)
        while clock.milliseconds < WallTime.milliseconds + 3_000_000, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(clock.milliseconds > WallTime.milliseconds + 3_000_000)
    }

    /// A server that stands still says what time it is when it goes on: long after it was asked.
    @Test func anAnswerThatTookLongIsAskedForAgain() async throws {
        var ahead = Int64.max
        // A machine that stands still at the answers behind it too leaves none that is better: then the next round counts.
        for _ in 0..<6 where ahead >= 300 { ahead = try await millisecondsAhead() }
        #expect(ahead < 300)
    }

    /// By how much a clock is ahead whose first answer took long.
    private func millisecondsAhead() async throws -> Int64 {
        let engine = HookedEngine()
        let isFirst = Mutex(true)
        engine.set {
            $0.time = {
                let waits = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if waits { Thread.sleep(forTimeInterval: 1.2) }
                return WallTime.milliseconds
            }
        }
        let clock = SharedClock(.system)
        try await clock.adjust(to: engine, before: .now + .seconds(120))
        return Int64(clock.milliseconds) - Int64(WallTime.milliseconds)
    }

    /// Who only writes has the engine's time too.
    @Test func theEngineIsAskedForItsTimeByWhoWrites() async throws {
        let engine = HookedEngine()
        engine.set { $0.time = { 3_600_000 } }
        let clock = SharedClock(.system, askingInterval: .zero)
        try await clock.adjust(to: engine, before: .now + .seconds(10))
        let connection = SharedConnectionState(
            engine, SharedFormat(try SharedKeys(namespace: "test")), clock, .roost)
        engine.set { $0.time = { 7_200_000 } }
        let put = SharedOperation.put(key: Array("test/values/a".utf8), value: [1], expiresIn: nil)
        _ = try await connection.commit(
            SharedCommit(operations: [put]), before: .now + .seconds(60))
        let end = ContinuousClock.now + .seconds(60)
        while clock.milliseconds < 7_000_000, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(clock.milliseconds > 7_000_000)
    }

    /// What a transaction read may expire before its commit.
    @Test func aTransactionRunsAgainWhereWhatItReadHasExpired() async throws {
        let time = SettableTime()
        let engine = HookedEngine(MemoryEngine(tellsTime: false))
        let workspace = try await connect(engine, .settable(time))
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "a", expiresIn: .seconds(60))
        let seen = Mutex<[Int?]>([])
        try await workspace.transaction { attempt in
            let found = try await attempt.load("a", as: Int.self, in: values)
            seen.withLock { $0.append(found) }
            if found != nil { time.advance(by: .seconds(120)) }
            try attempt.set(found ?? 0, forKey: "b", in: values)
        }
        #expect(seen.withLock { $0 } == [1, nil])
        #expect(try await values.load("b", as: Int.self) == 0)
    }

    /// What an update read may expire before its commit, and is not written anew then.
    @Test func anUpdateRunsAgainWhereWhatItReadHasExpired() async throws {
        let time = SettableTime()
        let engine = HookedEngine(MemoryEngine(tellsTime: false))
        let values = try await connect(engine, .settable(time)).dictionary("values")
        try await values.set(1, forKey: "a", expiresIn: .seconds(60))
        var seen: [Int?] = []
        try await values.update("a", as: Int.self) { value in
            seen.append(value)
            if value != nil { time.advance(by: .seconds(120)) }
            value = (value ?? 10) + 1
        }
        #expect(seen == [1, nil])
        #expect(try await values.load("a", as: Int.self) == 11)
    }

    // MARK: Watching

    /// After a break an engine may tell again what it told, and be less far than it was.
    @Test func aWatcherIsToldNothingAgain() async throws {
        let engine = HookedEngine()
        let workspace = try await connect(engine)
        let values = workspace.dictionary("values")
        try await values.set(0, forKey: "n")
        let start = try await workspace.revision
        let stored = try await engine.read(
            SharedRead(SharedKeyRange(Array("test/values/n".utf8))), before: .now + .seconds(10)
        ).records[0]
        let (events, source) = SharedEvents.make()
        engine.set { $0.watch = { _, _ in events } }
        func change(_ revision: UInt64) -> SharedChange {
            SharedChange(key: stored.key, value: stored.value, revision: revision)
        }
        source.tell(.changes([change(start + 1)], through: start + 1))
        source.tell(.changes([change(start + 1), change(start + 2)], through: start + 2))
        source.tell(.changes([], through: start))
        source.tell(.changes([change(start + 2), change(start + 3)], through: start + 3))
        var versions: [UInt64] = []
        for await change in values.changes(as: Int.self, since: start) {
            versions.append(change.version ?? 0)
            if versions.last == start + 3 { break }
        }
        #expect(versions == [start + 1, start + 2, start + 3])
    }

    /// A reader that goes before its engine begins to watch leaves nothing there.
    @Test func eventsWhoseReaderHasGoneEndAtOnce() async throws {
        for isCancelled in [false, true] {
            let (events, source) = SharedEvents.make()
            if isCancelled {
                let reader = Task {
                    var iterator = events.makeAsyncIterator()
                    return try await iterator.next() == nil
                }
                reader.cancel()
                #expect(try await reader.value)
            } else {
                source.end(nil)
            }
            let count = Mutex(0)
            source.onEnd { count.withLock { $0 += 1 } }
            #expect(count.withLock { $0 } == 1)
            source.end(nil)
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func theRevisionThatIsFollowedNeverGoesBack() {
        let state = FollowState()
        state.reach(5, at: .now)
        state.reach(3, at: .now)
        #expect(state.revision == 5)
    }
}
