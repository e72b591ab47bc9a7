import Foundation
import Synchronization

/// One round of one engine over the rows of live queries: 1,000 of them over 10,000 objects.
struct LiveSession<Engine: LiveObjectEngine>: Sendable {
    let wanted: Set<ObjectWorkload>
    let directory: String
    private(set) var samples: [Sample] = []

    static var objectCount: Int { 10_000 }
    private static var watchCount: Int { 1_000 }
    private let numbers = PostNumbers(count: Self.objectCount)

    init(wanted: Set<ObjectWorkload>, directory: String) {
        self.wanted =
            Engine.tellsWhatIsTouched
            ? wanted : wanted.subtracting([.commitBesideLive, .commitBesideNone])
        self.directory = directory
    }

    nonisolated(nonsending) mutating func run() async throws {
        guard !wanted.isDisjoint(with: ObjectWorkload.live) else { return }
        let store = try StoreDirectory(in: directory)
        defer { store.remove() }
        let engine = try await Engine.open(at: store.path)
        try await engine.insertAll(numbers.posts(0..<Self.objectCount))
        if wanted.contains(.commitBesideLive) { try await commit(engine, .commitBesideNone) }
        if wanted.contains(.liveObjects) { try await watchObjects(engine) }
        if wanted.contains(.liveRanges) || wanted.contains(.commitBesideLive) {
            try await watchRanges(engine)
        }
        try await engine.close()
    }

    /// From the begin of one transaction that changes every object until each watch was told its own.
    private nonisolated(nonsending) mutating func watchObjects(_ engine: Engine) async throws {
        let told = Deliveries(count: Self.watchCount)
        let every = Self.objectCount / Self.watchCount
        let watches = try (0..<Self.watchCount).map { index in
            try engine.watchObject(index * every) { told.note(index, $0.score) }
        }
        await told.all { _ in true }
        let begin = ContinuousClock.now
        try await engine.changeAll(0..<Self.objectCount) { $0.score = -1 }
        await told.all { $0 == -1 }
        note(.liveObjects, seconds(.now - begin))
        await engine.end(watches)
    }

    /// From the begin of one transaction that moves every object to another place until each watch was
    /// told its new result, which no object of the earlier one is in.
    private nonisolated(nonsending) mutating func watchRanges(_ engine: Engine) async throws {
        let told = Deliveries(count: Self.watchCount)
        let length = 1_000
        let watches = try (0..<Self.watchCount).map { index in
            let first = index * (Self.objectCount - length) / Self.watchCount
            return try engine.watch(prioritized: first..<first + length) { posts in
                guard posts.count == length, posts[0].score == posts[length - 1].score else {
                    return
                }
                told.note(index, posts[0].score)
            }
        }
        // All have one score, so that a result by half would be seen.
        try await engine.changeAll(0..<Self.objectCount) { $0.score = -2 }
        await told.all { $0 == -2 }
        // Of objects that are in no range.
        if wanted.contains(.commitBesideLive) { try await commit(engine, .commitBesideLive) }
        if wanted.contains(.liveRanges) {
            let begin = ContinuousClock.now
            try await engine.changeAll(0..<Self.objectCount) { post in
                post.priority = (post.priority + length) % Self.objectCount
                post.score = -3
            }
            await told.all { $0 == -3 }
            note(.liveRanges, seconds(.now - begin))
        }
        await engine.end(watches)
    }

    /// Objects that no live query asks for come and go.
    private nonisolated(nonsending) mutating func commit(
        _ engine: Engine, _ row: ObjectWorkload
    ) async throws {
        let outside: [Engine.Post] = (0..<2_000).map { index in
            var post: Engine.Post = numbers.post(Self.objectCount + index)
            post.priority += Self.objectCount
            return post
        }
        let begin = ContinuousClock.now
        for post in outside { try await engine.insert(post) }
        let spent = seconds(.now - begin)
        for post in outside { try await engine.delete(id: post.id) }
        samples.append(
            Sample(
                place: .init(workload: row.rawValue), unit: .operationsPerSecond,
                value: Double(outside.count) / spent))
    }

    private mutating func note(_ row: ObjectWorkload, _ spent: Double) {
        samples.append(
            Sample(
                place: .init(workload: row.rawValue), unit: .milliseconds, value: spent * 1000))
    }
}

/// What each of many watches was told last.
final class Deliveries: Sendable {
    private struct State {
        var last: [Double?]
        var isEnough: (@Sendable (Double) -> Bool)?
        /// How many have still to be told what is enough.
        var missingCount = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(last: Array(repeating: nil, count: count))) }

    func note(_ index: Int, _ score: Double) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let wasEnough = state.last[index].map { state.isEnough?($0) ?? false } ?? false
            state.last[index] = score
            guard let isEnough = state.isEnough, isEnough(score), !wasEnough else { return nil }
            state.missingCount -= 1
            guard state.missingCount == 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns once each was told last what is enough.
    func all(_ isEnough: @escaping @Sendable (Double) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                state.isEnough = isEnough
                state.missingCount = state.last.count { !($0.map(isEnough) ?? false) }
                if state.missingCount > 0 { state.waiter = continuation }
                return state.missingCount == 0
            }
            if isDone { continuation.resume() }
        }
    }
}
