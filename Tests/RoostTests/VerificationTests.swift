import Foundation
import RoostEngine
import RoostIO
import RoostTestSupport
import Testing

@testable import Roost

/// What goes on while a verification reads. docs/decisions/0275.
@Suite(.timeLimit(.minutes(5))) struct VerificationTests {
    private func open(_ path: String) async throws -> Workspace {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(shardCount: 2, durability: .process),
            fileSystem: PosixFileSystem()
        ) { configuration in
            configuration.flushThresholdBytes = 64 << 10
            configuration.smallestFlushBytes = 64 << 10
            configuration.backlogLimitBytes = 256 << 10
            configuration.snapshotSizeBytes = 16 << 10
        }
        try await fill(workspace, sizeBytes: 200 << 10, generation: 0)
        try await workspace.compact()
        return workspace
    }

    private func fill(_ workspace: Workspace, sizeBytes: Int, generation: UInt8) async throws {
        var random = SeededGenerator(seed: UInt64(generation))
        for index in 0..<sizeBytes >> 10 {
            try await workspace.dictionary("values").set(
                [generation] + random.bytes(1_023), forKey: "\(index % 200)")
        }
    }

    /// Begins a verification that is held at its first step of progress.
    private func beginVerifying(_ workspace: Workspace, _ gate: Gate) async -> Task<
        VerificationReport, any Error
    > {
        gate.close()
        let task = Task { try await workspace.verify { _ in gate.pass() } }
        await gate.waitForArrival()
        return task
    }

    @Test func writersAndCompactionGoOn() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            let gate = Gate()
            defer { gate.open() }
            let verifying = await beginVerifying(workspace, gate)
            let flushCount = workspace.statistics.flushCount
            // Eight flushes: at four writers would wait.
            try await fill(workspace, sizeBytes: 512 << 10, generation: 1)
            try await workspace.compact()
            #expect(workspace.statistics.flushCount > flushCount)
            gate.open()
            // What was there at the begin is read, though compaction has removed its names.
            let report = try await verifying.value
            #expect(report.isSound, "\(report.damages)")
            #expect(report.recordCount == 200)
            let after = try await workspace.verify()
            #expect(after.isSound && after.recordCount == 200)
            try await workspace.close()
        }
    }

    @Test(arguments: [false, true]) func closingEndsIt(isReader: Bool) async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open(path)
            let workspace =
                isReader
                ? try await Workspace.open(at: path, configuration: .init(access: .readOnly))
                : writer
            let gate = Gate()
            defer { gate.open() }
            let verifying = await beginVerifying(workspace, gate)
            try await workspace.close()
            gate.open()
            do {
                let report = try await verifying.value
                Issue.record("it went on to its end: \(report)")
            } catch let error as RoostError { #expect(error.code == .closed) }
            if isReader { try await writer.close() }
            let again = try await open(path)
            #expect(try await again.verify().isSound)
            try await again.close()
        }
    }

    @Test(arguments: [false, true]) func cancellingEndsIt(isReader: Bool) async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open(path)
            let workspace =
                isReader
                ? try await Workspace.open(at: path, configuration: .init(access: .readOnly))
                : writer
            let gate = Gate()
            defer { gate.open() }
            let verifying = await beginVerifying(workspace, gate)
            verifying.cancel()
            gate.open()
            do {
                let report = try await verifying.value
                Issue.record("it went on to its end: \(report)")
            } catch let error as RoostError { #expect(error.code == .cancelled) }
            #expect(try await workspace.verify().isSound)
            if isReader { try await workspace.close() }
            try await writer.close()
        }
    }
}
