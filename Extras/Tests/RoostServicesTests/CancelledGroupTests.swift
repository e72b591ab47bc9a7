import Foundation
import Logging
import Roost
import RoostServices
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

/// A group that is cancelled, at the end of its grace or as a service throws, loses nothing of its jobs.
@Suite(.timeLimit(.minutes(5))) struct CancelledGroupTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private struct Stopped: Error {}

    /// Throws once it is told to.
    private struct Failing: Service {
        let told: AsyncStream<Void>

        func run() async throws {
            for await _ in told { throw Stopped() }
        }
    }

    /// Runs a worker in a group with its workspace, has the group cancelled once a job was begun, and hands on the
    /// workspace as it is when it is opened again.
    private func withCancelledGroup(
        byFailure: Bool, _ job: @escaping @Sendable () async throws -> Void,
        checking check: (Workspace, JobQueue<Int>) async throws -> Void
    ) async throws {
        let path =
            FileManager.default.temporaryDirectory.path
            + "/roost-services-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let workspace = try await Workspace.open(at: path)
        let queue = JobQueue<Int>(workspace)
        let results = workspace.dictionary("results")
        _ = try await workspace.transaction { try queue.enqueue(1, id: "job", in: &$0) }
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (told, telling) = AsyncStream.makeStream(of: Void.self)
        let worker = JobWorker(queue, width: 2, logger: logger) { _ in
            beginning.yield()
            try await job()
        } completing: { lease, transaction in
            try transaction.set(lease.attempt, forKey: lease.id, in: results)
        }
        try await testGracefulShutdown { trigger in
            let services: [any Service] = [workspace, worker, Failing(told: told)]
            var configuration = ServiceGroupConfiguration(
                services: services.map {
                    ServiceGroupConfiguration.ServiceConfiguration(
                        service: $0, successTerminationBehavior: .ignore)
                }, logger: logger)
            configuration.maximumGracefulShutdownDuration = .milliseconds(50)
            let group = ServiceGroup(configuration: configuration)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    do { try await group.run() } catch is Stopped {
                    } catch is ServiceGroupError {}
                }
                for await _ in begun { break }
                if byFailure {
                    telling.yield()
                } else {
                    telling.finish()
                    trigger.triggerGracefulShutdown()
                }
                try await tasks.waitForAll()
            }
        }
        #expect(workspace.isClosed)
        let again = try await Workspace.open(at: path)
        try await check(again, JobQueue<Int>(again))
        try await again.close()
    }

    @Test(arguments: [false, true]) func aJobThatIsDoneNeverthelessIsNotDoneAgain(
        byFailure: Bool
    ) async throws {
        try await withCancelledGroup(byFailure: byFailure) {
            // It does not look at its cancellation.
            await Task { try? await Task.sleep(for: .milliseconds(300)) }.value
        } checking: { (workspace: Workspace, queue: JobQueue<Int>) async throws in
            #expect(try await queue.counts == (0, 0))
            #expect(try workspace.dictionary("results")["job", as: Int.self] == 1)
        }
    }

    @Test(arguments: [false, true]) func aJobThatThrowsThenIsGivenBack(
        byFailure: Bool
    ) async throws {
        try await withCancelledGroup(byFailure: byFailure) {
            do { try await Task.sleep(for: .seconds(3600)) } catch {
                // What it has to bring in order takes a while.
                await Task { try? await Task.sleep(for: .milliseconds(300)) }.value
                throw error
            }
        } checking: { (_: Workspace, queue: JobQueue<Int>) async throws in
            let lease = try #require(try await queue.lease(), "the job is not given back")
            #expect(lease.attempt == 1)
        }
    }
}
