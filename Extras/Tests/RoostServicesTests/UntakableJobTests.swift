import Foundation
import RoostShared
import Synchronization
import Testing

@testable import Roost
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
        // The largest that can be enqueued, but for what differs from token to token.
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
        let size = sizes.lowerBound - 16
        try await queue.enqueue(String(repeating: "x", count: size), id: "large")
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

    /// So what has no room for a lease is not enqueued: a value may have so much, and no more.
    @Test(arguments: [ValueCoder.roost, .json, .propertyList])
    func oneTakesNoMoreRoomThanAsItWasEnqueued(_ coder: ValueCoder) async throws {
        let time = Time()
        let workspace = try await Workspace.inMemory(configuration: .init(coder: coder))
        let queue = JobQueue<String>(
            workspace, retries: .init(attemptLimit: 200), now: { time.now })
        func size(_ id: String, _ dictionary: any KeyValueDictionary) throws -> Int {
            let stored = try workspace.dictionary(dictionary.name).storedValue(forKey: id)
            return try #require(stored).payload.count
        }
        for id in ["alone", "changes"] {
            if id == "alone" {
                try await queue.enqueue("payload", id: id)
            } else {
                try await workspace.transaction {
                    _ = try queue.enqueue("payload", id: id, in: &$0)
                }
            }
            let enqueued = try size(id, queue.jobs)
            for _ in 0..<200 {
                _ = try #require(try await queue.lease())
                #expect(try size(id, queue.jobs) <= enqueued)
                time.advance(31)
            }
            #expect(try await queue.lease() == nil)
            #expect(try size(id, queue.dead) <= enqueued)
        }
        try await workspace.close()
    }
}
