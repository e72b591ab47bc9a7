import Foundation
import Logging
import RoostServices
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@testable import Roost

/// A disk that is full for a while ends no worker, and so no server.
@Suite(.timeLimit(.minutes(5))) struct FullStoreTests {
    private func open(_ fileSystem: FullFileSystem) async throws -> Workspace {
        try await Workspace.open(
            at: "(full)", configuration: .init(durability: .process), fileSystem: fileSystem)
    }

    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func wait(until condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func aWorkerGoesOnOnceThereIsRoomAgain() async throws {
        let fileSystem = FullFileSystem()
        let workspace = try await open(fileSystem)
        let queue = JobQueue<Int>(workspace)
        for number in 0..<5 { try await queue.enqueue(number) }
        fileSystem.setFull(true)
        try await testGracefulShutdown { trigger in
            let worker = JobWorker(
                queue, width: 2, pollInterval: .milliseconds(5), logger: silent)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.run() }
                try await wait { fileSystem.refusedCount > 1 }
                fileSystem.setFull(false)
                try await wait { try await queue.counts.pending == 0 }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        try await workspace.close()
    }

    /// The job is done, and neither its end nor its failure can be written.
    @Test func aJobThatCannotBeEndedIsDoneAgain() async throws {
        let fileSystem = FullFileSystem()
        let workspace = try await open(fileSystem)
        let queue = JobQueue<Int>(workspace)
        try await queue.enqueue(1)
        let results = workspace.dictionary("results")
        let attempts = Atomic(0)
        try await testGracefulShutdown { trigger in
            let worker = JobWorker(
                queue, width: 1, leaseDuration: .milliseconds(300),
                pollInterval: .milliseconds(5), logger: silent
            ) { lease in
                let attempt = attempts.wrappingAdd(1, ordering: .relaxed).newValue
                fileSystem.setFull(attempt == 1)
            } completing: { lease, transaction in
                try transaction.set(lease.attempt, forKey: "done", in: results)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.run() }
                try await wait { fileSystem.refusedCount > 1 }
                fileSystem.setFull(false)
                try await wait { try await queue.counts.pending == 0 }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(try results["done", as: Int.self] == 2)
        #expect(try await queue.counts.dead == 0)
        try await workspace.close()
    }

    @Test func aWorkspaceThatIsClosedEndsTheWorker() async throws {
        let workspace = try await Workspace.inMemory()
        let queue = JobQueue<Int>(workspace)
        try await workspace.close()
        let error = await #expect(throws: RoostError.self) {
            try await JobWorker(queue, width: 1, logger: silent).run()
        }
        #expect(error?.code == .closed)
    }

    /// Once a hundredth of its time has passed, reading a session is a write too.
    @Test func aSessionIsReadThoughItsTimeCannotBeWritten() async throws {
        let fileSystem = FullFileSystem()
        let time = SettableTime()
        let workspace = try await Workspace.open(
            at: "(full)", configuration: .init(durability: .process, clock: .settable(time)),
            fileSystem: fileSystem)
        let sessions = SessionStore<String>(workspace, idleLimit: .seconds(100))
        let token = try await sessions.begin("ada")
        fileSystem.setFull(true)
        time.advance(by: .seconds(60))
        #expect(try await sessions.session(of: token) == "ada")
        #expect(fileSystem.refusedCount > 0)
        // Its time goes on.
        time.advance(by: .seconds(39))
        #expect(try await sessions.session(of: token) == "ada")
        time.advance(by: .seconds(1))
        #expect(try await sessions.session(of: token) == nil)
        fileSystem.setFull(false)
        try await workspace.close()
    }

    @Test func aSessionIsReadInAReaderToo() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-services-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let time = SettableTime()
        let configuration = Workspace.Configuration(durability: .process, clock: .settable(time))
        let writer = try await Workspace.open(at: directory, configuration: configuration)
        let token = try await SessionStore<String>(writer, idleLimit: .seconds(100)).begin("ada")
        try await writer.close()
        var readOnly = configuration
        readOnly.access = .readOnly
        let reader = try await Workspace.open(at: directory, configuration: readOnly)
        time.advance(by: .seconds(2))
        let sessions = SessionStore<String>(reader, idleLimit: .seconds(100))
        #expect(try await sessions.session(of: token) == "ada")
        try await reader.close()
    }
}
