import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// The last records of a range, from an engine that is asked for ranges from their begin on alone.
@Suite struct DescendingReadTests {
    /// Keys spread evenly, in clusters behind long prefixes, one the begin of the next, and of any bytes.
    private func keys(_ kind: Int, _ random: inout SeededGenerator) -> [[UInt8]] {
        let count = [0, 1, 3, 70, 150, 500].randomElement(using: &random)!
        return (0..<count).map { number in
            switch kind {
            case 0: Array("k/\(1_000_000 + number)".utf8)
            case 1:
                Array(repeating: UInt8(number % 3), count: 40 * (number % 4))
                    + [UInt8(number >> 8), UInt8(number & 0xff)]
            case 2: [UInt8](repeating: 7, count: number % 600)
            case 3:
                [UInt8](repeating: 0xff, count: number % 5) + [
                    UInt8(number & 0xff), 0, UInt8(number >> 8),
                ]
            default:
                (0..<Int.random(in: 1...12, using: &random)).map { _ in
                    [0, 1, 0xfe, 0xff, UInt8.random(in: 0...0xff, using: &random)]
                        .randomElement(using: &random)!
                }
            }
        }
    }

    @Test(arguments: 0..<5) func itGivesWhatAnEngineThatReadsBackwardsGives(kind: Int) async throws
    {
        let seed = testSeed() &+ UInt64(kind)
        var random = SeededGenerator(seed: seed)
        for round in 0..<runCount(2, whole: 5) {
            let engine = MemoryEngine(
                limits: SharedLimits(
                    operationCount: 10_000, commitSizeBytes: 1 << 26, keySizeBytes: 1 << 12))
            let keys = Array(Set(keys(kind, &random)))
            if !keys.isEmpty {
                let operations = keys.map {
                    SharedOperation.put(key: [1] + $0, value: [2] + $0, expiresIn: nil)
                }
                _ = try await engine.commit(
                    SharedCommit(operations: operations), before: .now + .seconds(60))
            }
            for number in 0..<15 {
                var range = SharedKeyRange(lower: [1], upper: [2])
                if number % 2 == 1, let key = keys.randomElement(using: &random) {
                    range.upper = [1] + key
                }
                if number % 3 == 1, let key = keys.randomElement(using: &random) {
                    range.lower = [1] + key
                }
                guard !range.isEmpty else { continue }
                var read = SharedRead(
                    range, limit: [1, 2, 9, 20, 5000].randomElement(using: &random)!)
                read.isDescending = true
                read.isKeysOnly = Bool.random(using: &random)
                let asked = Asked()
                var descending = DescendingRead(read) { piece in
                    asked.note(piece)
                    return try await engine.read(piece, before: .now + .seconds(60))
                }
                let page = try await descending.page()
                let expected = try await engine.read(read, before: .now + .seconds(60))
                let comment: Comment = "seed \(seed), round \(round), read \(number)"
                let isSame =
                    page.records.map(\.key) == expected.records.map(\.key)
                    && page.records.map(\.value) == expected.records.map(\.value)
                #expect(isSame, comment)
                #expect(page.hasMore == expected.hasMore, comment)
                #expect(page.revision == expected.revision, comment)
                #expect(!asked.isDescending, comment)
            }
        }
    }

    /// Nothing that has to be looked at is of a later revision than the first look.
    @Test func itIsOfOneRevision() async throws {
        let engine = MemoryEngine(
            limits: SharedLimits(
                operationCount: 1000, commitSizeBytes: 1 << 20, keySizeBytes: 1 << 10))
        @Sendable func put(_ numbers: Range<Int>) async throws {
            let operations = numbers.map {
                SharedOperation.put(key: Array("k\(10_000 + $0)".utf8), value: [], expiresIn: nil)
            }
            _ = try await engine.commit(
                SharedCommit(operations: operations), before: .now + .seconds(60))
        }
        try await put(0..<500)
        var read = SharedRead(SharedKeyRange(lower: [0], upper: [0xff]), limit: 10)
        read.isDescending = true
        let expected = try await engine.read(read, before: .now + .seconds(60))
        let asked = Asked()
        var descending = DescendingRead(read) { piece in
            asked.note(piece)
            let page = try await engine.read(piece, before: .now + .seconds(60))
            try await put(500 + asked.count * 100..<600 + asked.count * 100)
            return page
        }
        let page = try await descending.page()
        #expect(page.records.map(\.key) == expected.records.map(\.key))
        #expect(page.revision == expected.revision)
        #expect(asked.count > 2)
    }

    /// Who asks for the newest is not told that an earlier revision was given up, which the looks had in common.
    @Test func whatIsGivenUpMeanwhileIsLookedForAgain() async throws {
        let engine = MemoryEngine(
            limits: SharedLimits(
                operationCount: 1000, commitSizeBytes: 1 << 20, keySizeBytes: 1 << 10))
        let operations = (0..<500).map {
            SharedOperation.put(key: Array("k\(10_000 + $0)".utf8), value: [1], expiresIn: nil)
        }
        _ = try await engine.commit(
            SharedCommit(operations: operations), before: .now + .seconds(60))
        let first = try await engine.read(
            SharedRead(SharedKeyRange([0])), before: .now + .seconds(60)
        ).revision
        let compactionCount = Mutex(0)
        let reader: DescendingRead.Reader = { piece in
            if piece.revision != nil, compactionCount.withLock({ $0 < 3 }) {
                compactionCount.withLock { $0 += 1 }
                let other = SharedCommit(operations: [.put(key: [1], value: [], expiresIn: nil)])
                if case .committed(let revision) = try await engine.commit(
                    other, before: .now + .seconds(60))
                {
                    engine.compact(before: revision)
                }
            }
            return try await engine.read(piece, before: .now + .seconds(60))
        }
        var read = SharedRead(
            SharedKeyRange(lower: Array("k".utf8), upper: Array("l".utf8)), limit: 10)
        read.isDescending = true
        var descending = DescendingRead(read, by: reader)
        let page = try await descending.page()
        let expected = try await engine.read(read, before: .now + .seconds(60))
        #expect(compactionCount.withLock { $0 } == 3)
        #expect(page.records == expected.records)
        #expect(page.revision == expected.revision)
        // One that is asked for by its number is.
        read.revision = first
        var earlier = DescendingRead(read, by: reader)
        let error = await #expect(throws: RoostError.self) { try await earlier.page() }
        #expect(error?.code == .compacted)
    }

    @Test func itAsksForFewKeysOfMany() async throws {
        let engine = MemoryEngine(
            limits: SharedLimits(
                operationCount: 10_000, commitSizeBytes: 1 << 26, keySizeBytes: 1 << 10))
        let operations = (0..<5_000).map {
            SharedOperation.put(
                key: Array("posts/\(1_000_000 + $0)".utf8), value: [1], expiresIn: nil)
        }
        _ = try await engine.commit(
            SharedCommit(operations: operations), before: .now + .seconds(60))
        var read = SharedRead(
            SharedKeyRange(lower: Array("posts/".utf8), upper: Array("posts0".utf8)), limit: 20)
        read.isDescending = true
        let asked = Asked()
        var descending = DescendingRead(read) { piece in
            asked.note(piece)
            return try await engine.read(piece, before: .now + .seconds(60))
        }
        let page = try await descending.page()
        #expect(page.records.first?.key == Array("posts/1004999".utf8))
        #expect(page.records.count == 20)
        #expect(asked.count <= 40)
    }

    private final class Asked: Sendable {
        private let state = Mutex((count: 0, isDescending: false))

        var count: Int { state.withLock { $0.count } }
        var isDescending: Bool { state.withLock { $0.isDescending } }

        func note(_ read: SharedRead) {
            state.withLock {
                $0.count += 1
                $0.isDescending = $0.isDescending || read.isDescending
            }
        }
    }
}
