import Roost
import RoostIO
import RoostShared
import Synchronization
import Testing

/// How much a scan asks for at once.
@Suite(.timeLimit(.minutes(5))) struct ScanTests {
    /// An engine whose reads of the dictionary go through `refuse`, which may throw; and how many records each asked for.
    private func connect(
        _ deadline: Duration = .seconds(60),
        _ refuse: @escaping @Sendable (SharedRead) async throws -> Void
    ) async throws -> (shared: SharedWorkspace, limits: @Sendable () -> [Int]) {
        let engine = HookedEngine()
        let shared = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: "test", configuration: .init(callDeadline: deadline))
        let limits = Limits()
        engine.set {
            $0.read = { read in
                guard read.limit > 1 else { return nil }
                limits.all.withLock { $0.append(read.limit) }
                try await refuse(read)
                return nil
            }
        }
        return (shared, { limits.all.withLock { $0 } })
    }

    private final class Limits: Sendable {
        let all = Mutex<[Int]>([])
    }

    @Test(arguments: [RoostError.Code.unavailable, .tooLarge])
    func whatIsTooMuchIsReadInSmallerPages(code: RoostError.Code) async throws {
        let (shared, limits) = try await connect { read in
            if read.limit > 100 { throw RoostError(code, "more than is read at once") }
        }
        let values = shared.dictionary("values")
        for first in stride(from: 0, to: 1000, by: 100) {
            try await values.setAll((first..<first + 100).map { (String($0), $0) })
        }
        #expect(try await values.count == 1000)
        // It learns what is too much, and tries that again once in a while only.
        #expect(limits().count < 60)
        #expect(limits().count { $0 > 100 } <= 3)
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("values", in: local)
        #expect(try followed.count == 1000)
        await followed.close()
        try await local.close()
    }

    /// Pages that take too long, of an engine that says so only at the deadline: the deadline of the page's call is one.
    @Test func whatTakesTooLongIsReadInSmallerPages() async throws {
        let engine = HookedEngine()
        let shared = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(10)))
        engine.set {
            $0.delay = { read, deadline in
                if read.limit > 40 { try await Task.sleep(until: deadline) }
            }
        }
        let values = shared.dictionary("values")
        try await values.setAll((0..<100).map { (String($0), $0) })
        #expect(try await values.count == 100)
    }

    @Test func whereNobodyAnswersAPageEndsAtItsDeadline() async throws {
        let (shared, _) = try await connect { _ in
            try await Task.sleep(for: .seconds(1))
            throw RoostError(.unavailable, "nobody answers")
        }
        let error = await #expect(throws: RoostError.self) {
            try await shared.withCallDeadline(.seconds(1)).dictionary("values").count
        }
        #expect(error?.code == .unavailable)
    }

    /// Nobody knows how large the first values are, and those after are as many as about a MiB by them.
    @Test func largeValuesAreReadInSmallPages() async throws {
        let (shared, limits) = try await connect { _ in }
        let values = shared.dictionary("values")
        let large = String(repeating: "x", count: 200 << 10)
        for number in 0..<40 { try await values.set(large, forKey: String(number)) }
        var count = 0
        for try await _ in values.entries(as: String.self) { count += 1 }
        #expect(count == 40)
        #expect(limits().first == 16)
        #expect(limits().dropFirst().allSatisfy { $0 <= 6 })
    }

    @Test func smallValuesAreReadInLargePages() async throws {
        let (shared, limits) = try await connect { _ in }
        let values = shared.dictionary("values")
        for first in stride(from: 0, to: 3000, by: 100) {
            try await values.setAll((first..<first + 100).map { (String($0), $0) })
        }
        #expect(try await values.count == 3000)
        #expect(limits() == [16, 64, 256, 1024, 1024, 1024])
    }
}
