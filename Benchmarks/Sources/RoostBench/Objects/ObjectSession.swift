import Foundation

/// One round of one engine over the rows of one number of objects.
struct ObjectSession<Engine: ObjectEngine>: Sendable {
    let numbers: PostNumbers
    let wanted: Set<ObjectWorkload>
    /// How often what is done one by one is done.
    let operations: Int
    let directory: String
    private(set) var samples: [Sample] = []

    private var count: Int { numbers.count }
    private static var togetherCount: Int { 10_000 }

    init(count: Int, wanted: Set<ObjectWorkload>, operations: Int, directory: String) {
        numbers = PostNumbers(count: count)
        self.wanted = wanted
        self.operations = min(operations, count, 10_000)
        self.directory = directory
    }

    nonisolated(nonsending) mutating func run() async throws {
        if wanted.isSubset(of: ObjectWorkload.live.union([.insertInt])) { return }
        let store = try StoreDirectory(in: directory)
        defer { store.remove() }
        var engine = try await Engine.open(at: store.path)
        for first in stride(from: 0, to: count, by: Self.togetherCount) {
            try await engine.insertAll(
                numbers.posts(first..<min(first + Self.togetherCount, count)))
        }
        try await insertAndDelete(engine)
        if wanted.contains(.fourTasks) { try await insertAndDeleteByTasks(engine) }
        try await update(engine)
        if wanted.contains(.findHot) {
            let ids = shuffledIDs(seed: 3)
            // Once outside the clock, so that what an engine keeps is kept.
            try find(engine, ids)
            try await measure(.findHot) { try $0.find(engine, ids) }
        }
        try await ask(engine)
        try await engine.close()
        if wanted.contains(.findCold) {
            engine = try await Engine.open(at: store.path)
            let ids = shuffledIDs(seed: 4)
            try await measure(.findCold) { try $0.find(engine, ids) }
            try await engine.close()
        }
    }

    // MARK: Changes

    /// Beside the objects that are there; afterwards they are again as they were.
    private nonisolated(nonsending) mutating func insertAndDelete(_ engine: Engine) async throws {
        guard !wanted.isDisjoint(with: [.insert, .insertTogether, .delete]) else { return }
        let singles: [Engine.Post] = numbers.posts(count..<count + operations)
        try await measure(.insert) { _ in
            for post in singles { try await engine.insert(post) }
            return singles.count
        }
        let first = count + operations
        let together: [Engine.Post] = numbers.posts(first..<first + Self.togetherCount)
        try await measure(.insertTogether) { _ in
            try await engine.insertAll(together)
            return together.count
        }
        for post in singles + together {
            guard try engine.find(id: post.id) == post else { throw BenchError("not \(post.id)") }
        }
        try await measure(.delete) { _ in
            for post in singles { try await engine.delete(id: post.id) }
            return singles.count
        }
        for post in together { try await engine.delete(id: post.id) }
        guard try engine.find(id: count) == nil else { throw BenchError("deleted and there") }
    }

    private nonisolated(nonsending) mutating func insertAndDeleteByTasks(
        _ engine: Engine
    ) async throws {
        let each = operations
        let posts: [Engine.Post] = numbers.posts(count..<count + 4 * each)
        try await measure(.fourTasks) { _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for own in stride(from: 0, to: posts.count, by: each) {
                    group.addTask {
                        for post in posts[own..<own + each] { try await engine.insert(post) }
                        for post in posts[own..<own + each] { try await engine.delete(id: post.id) }
                    }
                }
                try await group.waitForAll()
            }
            return posts.count * 2
        }
        guard try engine.count(prioritized: 0..<count) == count else {
            throw BenchError("the tasks left objects")
        }
    }

    private nonisolated(nonsending) mutating func update(_ engine: Engine) async throws {
        if wanted.contains(.update) {
            let ids = shuffledIDs(seed: 1)
            try await measure(.update) { _ in
                for id in ids { try await engine.setScore(-Double(id), id: id) }
                return ids.count
            }
            guard try engine.find(id: ids[0])?.score == -Double(ids[0]) else {
                throw BenchError("the update is not there")
            }
        }
        if wanted.contains(.updateIndexed) {
            let ids = shuffledIDs(seed: 2)
            try await measure(.updateIndexed) { _ in
                for id in ids { try await engine.setGroup(PostNumbers.group(id) + 100, id: id) }
                return ids.count
            }
            guard try engine.find(id: ids[0])?.group ?? 0 >= 100 else {
                throw BenchError("the update is not there")
            }
        }
    }

    // MARK: Questions

    @discardableResult
    private func find(_ engine: Engine, _ ids: [Int]) throws -> Int {
        for id in ids {
            guard let post = try engine.find(id: id), post.priority == numbers.priority(id) else {
                throw BenchError("not the post \(id)")
            }
        }
        return ids.count
    }

    private nonisolated(nonsending) mutating func ask(_ engine: Engine) async throws {
        try await measure(.fetchUnindexed) { session in
            var found = 0
            // About as long whatever the size.
            for round in 0..<max(1, 100_000 / session.count) {
                let color = PostColor.allCases[round % 6]
                let posts = try engine.posts(ofColor: color)
                guard posts.count >= session.count / 6, posts.last?.color == color else {
                    throw BenchError("not the posts of a color")
                }
                found += posts.count
            }
            return found
        }
        try await measure(.firstOfRange) { session in
            let asked = min(session.operations, 20_000)
            for number in 0..<asked {
                let first = number * 7919 % (session.count - 20)
                let posts = try engine.firstPosts(20, prioritized: first..<session.count)
                guard posts.count == 20, posts[19].priority == first + 19 else {
                    throw BenchError("not the first 20")
                }
            }
            return asked
        }
        try await measure(.countRange) { session in
            let length = min(100_000, session.count)
            let asked = max(1_000, 2_000_000 / length)
            for number in 0..<asked {
                let first = number * 7919 % (session.count - length + 1)
                guard try engine.count(prioritized: first..<first + length) == length else {
                    throw BenchError("not the count of the range")
                }
            }
            return asked
        }
    }

    private func shuffledIDs(seed: UInt64) -> [Int] {
        var generator = SplitMix(state: seed)
        return (0..<operations).map { _ in Int.random(in: 0..<count, using: &generator) }
    }

    // MARK: Figures

    private nonisolated(nonsending) mutating func measure(
        _ row: ObjectWorkload,
        _ body: nonisolated(nonsending) (ObjectSession) async throws -> Int
    ) async throws {
        // What later rows stand on is done whether or not it is asked for.
        guard wanted.contains(row) || row == .insert || row == .insertTogether || row == .delete
        else { return }
        let begin = ContinuousClock.now
        let done = try await body(self)
        let spent = seconds(.now - begin)
        guard wanted.contains(row) else { return }
        samples.append(
            Sample(
                place: .init(workload: row.rawValue), unit: .operationsPerSecond,
                value: Double(done) / spent))
    }
}
