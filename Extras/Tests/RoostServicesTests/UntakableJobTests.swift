import Foundation
import Roost
import RoostShared
import Synchronization
import Testing

@testable import RoostServices

/// A job that cannot be taken, whatever is tried, stands in no other's way.
@Suite(.timeLimit(.minutes(5))) struct UntakableJobTests {
    private final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(_ seconds: Double) { date.withLock { $0 += seconds } }
    }

    private func makeQueue(_ workspace: some KeyValueWorkspace, _ time: Time) -> JobQueue<String> {
        JobQueue(
            workspace, retries: .init(longestDelay: .seconds(60)), now: { time.now })
    }

    /// Looks whether one that cannot be taken, and is due first, is told of once and set aside.
    private func check(
        _ queue: JobQueue<String>, _ time: Time, _ code: RoostError.Code
    ) async throws {
        for _ in 0..<2 {
            time.advance(1)
            try await queue.enqueue("able", id: "able")
            let lease = try #require(try await queue.lease())
            #expect(lease.id == "able")
            try await queue.complete(lease)
            // Another is told of it again when its time has come.
            time.advance(61)
            let error = await #expect(throws: RoostError.self) { _ = try await queue.lease() }
            #expect(error?.code == code)
            #expect(try await queue.lease() == nil)
            #expect(try await queue.due.count == 1)
            time.advance(61)
        }
    }

    /// To take it, more has to be changed at once than to enqueue it.
    @Test func oneThatIsTooLargeToBeTakenIsSetAside() async throws {
        let limits = SharedLimits(
            operationCount: 128, commitSizeBytes: 4096, keySizeBytes: 1024)
        let time = Time()
        let workspace = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine(limits: limits)), namespace: "test")
        let queue = makeQueue(workspace, time)
        // The largest that can be enqueued.
        var sizes = 0..<4096
        while sizes.count > 1 {
            let size = (sizes.lowerBound + sizes.upperBound) / 2
            do {
                try await queue.enqueue(String(repeating: "x", count: size), id: "large")
                #expect(try await queue.cancel("large"))
                sizes = size..<sizes.upperBound
            } catch let error as RoostError where error.code == .tooLarge {
                sizes = sizes.lowerBound..<size
            }
        }
        try await queue.enqueue(String(repeating: "x", count: sizes.lowerBound), id: "large")
        try await check(queue, time, .tooLarge)
        await workspace.close()
    }

    @Test func oneWhoseRecordIsDamagedIsSetAside() async throws {
        let path =
            FileManager.default.temporaryDirectory.path + "/roost-services-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let time = Time()
        let payload = String(repeating: "damaged", count: 1000)
        let configuration = Workspace.Configuration(compression: .none)
        let first = try await Workspace.open(at: path, configuration: configuration)
        try await makeQueue(first, time).enqueue(payload, id: "damaged")
        // Between the times and the jobs, so that one checksum is not of both.
        let between = first.dictionary("jobs.for")
        for key in ["a", "b"] { try await between.set(payload.uppercased(), forKey: key) }
        try await first.compact()
        try await first.close()
        try damage("damageddamaged", at: path)
        let workspace = try await Workspace.open(at: path, configuration: configuration)
        try await check(makeQueue(workspace, time), time, .corrupt)
        try await workspace.close()
    }

    /// Changes a byte of each file of the directory that has `text`.
    private func damage(_ text: String, at path: String) throws {
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let file = URL(fileURLWithPath: "\(path)/\(name)")
            var bytes = try Data(contentsOf: file)
            guard let place = bytes.range(of: Data(text.utf8)) else { continue }
            bytes[place.lowerBound] ^= 1
            try bytes.write(to: file)
            count += 1
        }
        try #require(count > 0)
    }

    /// What could be enqueued, and not be taken.
    @Test func oneThatHasNoRoomForALeaseIsNotEnqueued() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(coder: .json))
        let queue = makeQueue(workspace, Time())
        // {"attemptCount":0,"dueKey":"000001000000000-a","payload":"…"} of 20 bytes less than a value may have.
        let payload = String(repeating: "x", count: (256 << 20) - 80)
        let error = await #expect(throws: RoostError.self) {
            try await queue.enqueue(payload, id: "a")
        }
        #expect(error?.code == .valueTooLarge)
        let inTransaction = await #expect(throws: RoostError.self) {
            try await workspace.transaction { _ = try queue.enqueue(payload, id: "a", in: &$0) }
        }
        #expect(inTransaction?.code == .valueTooLarge)
        #expect(try await queue.counts == (0, 0))
        try await workspace.close()
    }
}
