import Foundation
import Logging
import Roost
import RoostReplica
import RoostServices
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@Suite struct ReplicaServiceTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    /// No entry is copied by itself within a test.
    private let rarely = ReplicaOptions(interval: .seconds(3600))

    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-services-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        do { try await body(path) } catch {
            try FileManager.default.removeItem(atPath: path)
            throw error
        }
        try FileManager.default.removeItem(atPath: path)
    }

    /// Writes once more when it is shut down.
    private struct Writer: Service {
        let workspace: Workspace

        func run() async throws {
            try await gracefulShutdown()
            try await workspace.dictionary("d").set("last", forKey: "word")
        }
    }

    private func restored(_ storage: DirectoryStorage, _ path: String) async throws -> String? {
        try await Replica.restore(from: storage, to: path)
        let workspace = try await Workspace.open(at: path)
        let word = try workspace.dictionary("d")["word", as: String.self]
        try await workspace.close()
        return word
    }

    @Test(arguments: [false, true])
    func whatIsWrittenAsTheServicesEndIsCopied(isCancelled: Bool) async throws {
        try await withDirectory { path in
            let storage = DirectoryStorage(path: "\(path)/copy")
            let workspace = try await Workspace.open(at: "\(path)/data")
            try await workspace.dictionary("d").set("first", forKey: "word")
            let replica = try Replica(of: workspace, to: storage, options: rarely)
            try await replica.waitUntilCopied()
            if isCancelled {
                try await workspace.dictionary("d").set("last", forKey: "word")
                let group = ServiceGroup(services: [workspace, replica], logger: silent)
                let running = Task { try await group.run() }
                try await Task.sleep(for: .milliseconds(50))
                running.cancel()
                _ = await running.result
            } else {
                try await testGracefulShutdown { trigger in
                    let group = ServiceGroup(
                        services: [workspace, replica, Writer(workspace: workspace)],
                        logger: silent)
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        tasks.addTask { try await group.run() }
                        trigger.triggerGracefulShutdown()
                        try await tasks.waitForAll()
                    }
                }
            }
            #expect(workspace.isClosed)
            #expect(try await restored(storage, "\(path)/restored") == "last")
        }
    }

    @Test func aCopyThatAnotherHasTakenOverEndsTheGroup() async throws {
        try await withDirectory { path in
            let storage = DirectoryStorage(path: "\(path)/copy")
            let workspace = try await Workspace.open(at: "\(path)/data")
            try await workspace.dictionary("d").set("first", forKey: "word")
            let replica = try Replica(
                of: workspace, to: storage, options: ReplicaOptions(interval: .milliseconds(20)))
            try await replica.waitUntilCopied()
            let silent = silent
            let running = Task {
                try await ServiceGroup(services: [workspace, replica], logger: silent).run()
            }
            let other = try await Workspace.open(at: "\(path)/other")
            let newer = try Replica(of: other, to: storage)
            try await newer.waitUntilCopied()
            // Whoever writes learns it with the next entry.
            try await workspace.dictionary("d").set("late", forKey: "word")
            let error = await #expect(throws: RoostError.self) { try await running.value }
            #expect(error?.code == .fenced)
            #expect(workspace.isClosed)
            try await newer.stop(within: .seconds(600))
            try await other.close()
        }
    }
}
