import Foundation
import Roost
import RoostObservability
import RoostReplica
import Synchronization
import Testing

/// What is told of copies, and of backups of before.
@Suite(.timeLimit(.minutes(5))) struct CopyObservationTests {
    private let options = ReplicaOptions(
        interval: .milliseconds(20), signOfLifeInterval: .milliseconds(20))

    @Test func aCopyThatIsOvertakenIsTold() async throws {
        let seen = Seen()
        let storage = MemoryStorage()
        let (first, second) = (try await Workspace.inMemory(), try await Workspace.inMemory())
        let older = try Replica(of: first, to: storage, options: options)
        try await older.waitUntilCopied()
        seen.observability.collect(older.status)
        #expect(try seen.level("roost_copy_age_seconds").map { $0 < 60 } == true)
        #expect(try seen.level("roost_copy_fenced") == 0)
        #expect(try seen.level("roost_copy_histories") == 1)
        #expect(seen.total("roost_copy_sent_bytes_total") > 0)
        let newer = try Replica(of: second, to: storage, options: options)
        try await newer.waitUntilCopied()
        try await first.dictionary("d").set(1, forKey: "late")
        await #expect(throws: RoostError.self) { try await older.waitUntilCopied() }
        for _ in 0..<2 { seen.observability.collect(older.status) }
        #expect(try seen.level("roost_copy_fenced") == 1)
        let lines = seen.lines("another writer has taken over the copy: nothing more is copied")
        #expect(lines.map { $0["roost.error_code"] } == ["fenced"])
        try await newer.stop(within: .seconds(600))
    }

    @Test func aStorageThatTakesNothingIsTold() async throws {
        let seen = Seen()
        let storage = ClosedStorage()
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: storage, options: options)
        while replica.status.trouble == nil { try await Task.sleep(for: .milliseconds(5)) }
        for _ in 0..<2 { seen.observability.collect(replica.status) }
        #expect(try seen.level("roost_copy_failing") == 1)
        #expect(seen.lines("the storage does not take the copy").count == 1)
        storage.isClosed.store(false, ordering: .sequentiallyConsistent)
        try await replica.waitUntilCopied()
        for _ in 0..<2 { seen.observability.collect(replica.status) }
        #expect(try seen.level("roost_copy_failing") == 0)
        #expect(seen.lines("the storage takes the copy again").count == 1)
        try await replica.stop(within: .seconds(600))
    }

    /// The first of the second replica is not the last of the first one, though it may have sent more.
    @Test(arguments: [40, 100, 300] as [UInt64])
    func aSecondReplicaCountsFromZero(_ sentBytes: UInt64) async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory()
        var sentBefore: Int64 = 0
        for (sent, pause) in [(100, Duration.milliseconds(300)), (sentBytes, .zero)] {
            let begin = ContinuousClock.now
            // Never complete, so that its age counts from the first look at it.
            let replica = try Replica(of: workspace, to: ClosedStorage(), options: options)
            var status = replica.status
            status.state = .failed(RoostError(.fenced, "overtaken"))
            status.journalBytesSent = sent
            for _ in 0..<2 { seen.observability.collect(status) }
            let age = try #require(try seen.level("roost_copy_age_seconds"))
            #expect(age >= 0 && age <= (ContinuousClock.now - begin) / .seconds(1))
            sentBefore += Int64(sent)
            #expect(seen.total("roost_copy_sent_bytes_total") == sentBefore)
            await #expect(throws: (any Error).self) { try await replica.stop(within: .zero) }
            try await Task.sleep(for: pause)
        }
        let lines = seen.lines("another writer has taken over the copy: nothing more is copied")
        #expect(lines.count == 2)
        try await workspace.close()
    }

    /// A replica that went on with its history has begun none before it loses log; a first one has begun one.
    @Test(arguments: [0, 1]) func lostLogIsToldOnce(_ historyCount: Int) async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory()
        var total: Int64 = 0
        // The second replica of the workspace counts from zero.
        for _ in 0..<2 {
            let replica = try Replica(of: workspace, to: ClosedStorage(), options: options)
            var status = replica.status
            status.historyCount = historyCount
            seen.observability.collect(status)
            #expect(seen.total("roost_copy_log_losses_total") == total)
            status.historyCount += 1
            status.lostLogCount = 1
            for _ in 0..<2 { seen.observability.collect(status) }
            total += 1
            #expect(seen.total("roost_copy_log_losses_total") == total)
            let lines = seen.lines("log was lost to the copy, which begins anew")
            #expect(lines.count == Int(total))
            #expect(lines.last?["roost.losses"] == "1")
            #expect(lines.last?["roost.histories"] == "\(historyCount + 1)")
            await #expect(throws: (any Error).self) { try await replica.stop(within: .zero) }
        }
        try await workspace.close()
    }

    /// The statuses of several collectors may come in any order.
    @Test func anOlderStatusThatComesLaterTellsNothingAgain() async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: ClosedStorage(), options: options)
        var older = replica.status
        older.journalBytesSent = 100
        var newer = older
        newer.journalBytesSent = 200
        newer.state = .failed(RoostError(.fenced, "overtaken"))
        for status in [newer, older, newer] { seen.observability.collect(status) }
        #expect(seen.total("roost_copy_sent_bytes_total") == 200)
        newer.journalBytesSent = 300
        seen.observability.collect(newer)
        #expect(seen.total("roost_copy_sent_bytes_total") == 300)
        let lines = seen.lines("another writer has taken over the copy: nothing more is copied")
        #expect(lines.count == 1)
        await #expect(throws: (any Error).self) { try await replica.stop(within: .zero) }
        try await workspace.close()
    }

    @Test func basesThatCannotBeWrittenAreTold() async throws {
        let seen = Seen()
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: MemoryStorage(), options: options)
        try await replica.waitUntilCopied()
        var status = replica.status
        seen.observability.collect(status)
        #expect(try seen.level("roost_copy_bases_failing") == 0)
        status.baseTrouble = RoostError(.io, "no base is taken")
        for _ in 0..<2 { seen.observability.collect(status) }
        #expect(try seen.level("roost_copy_bases_failing") == 1)
        #expect(try seen.level("roost_copy_failing") == 0)
        let text = "the copy's bases cannot be written, or what is not needed removed"
        #expect(seen.lines(text).count == 1)
        status.baseTrouble = nil
        for _ in 0..<2 { seen.observability.collect(status) }
        #expect(try seen.level("roost_copy_bases_failing") == 0)
        #expect(seen.lines("the copy's bases are written again").count == 1)
        try await replica.stop(within: .seconds(600))
        try await workspace.close()
    }

    @Test func theAgeOfABackupOfBeforeIsKnown() async throws {
        try await withDirectory { directory in
            let workspace = try await Workspace.open(at: "\(directory)/store")
            try await workspace.dictionary("d").set(1, forKey: "a")
            try await workspace.backup(toSeries: "\(directory)/series")
            let seen = Seen()
            seen.observability.note(try Workspace.backups(inSeries: "\(directory)/series"))
            try await Task.sleep(for: .milliseconds(10))
            seen.observability.collect(workspace.statistics)
            let age = try #require(try seen.level("roost_backup_age_seconds"))
            #expect(age > 0 && age < 300)
            try await workspace.close()
        }
    }
}

/// Takes nothing until it is opened.
private final class ClosedStorage: ObjectStorage {
    let isClosed = Atomic(true)
    private let memory = MemoryStorage()

    private func open() throws -> MemoryStorage {
        guard !isClosed.load(ordering: .sequentiallyConsistent) else {
            throw RoostError(.io, "the storage is closed")
        }
        return memory
    }

    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        try await open().get(name, maximumSizeBytes: maximumSizeBytes)
    }
    func download(_ name: String, to receive: ([UInt8]) async throws -> Void) async throws -> Bool {
        try await open().download(name, to: receive)
    }
    func put(_ name: String, _ content: ObjectContent) async throws {
        try await open().put(name, content)
    }
    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        try await open().putIfAbsent(name, bytes)
    }
    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        try await open().list(prefix: prefix, after: name)
    }
    func delete(_ name: String) async throws { try await open().delete(name) }
}
