import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

/// A process without descriptors or memory left: calls fail with a clear error or go on, what was
/// acknowledged is there, and all goes on once there is something again.
@Suite struct ScarceResourceTests {
    enum Lack: String, CaseIterable, Sendable {
        case descriptors, memory

        func hits(_ call: ResourceCall) -> Bool {
            if case .map = call { self == .memory } else { self == .descriptors }
        }

        var error: RoostError {
            RoostError(.io, "could not: \(self == .memory ? "ENOMEM" : "EMFILE")", file: "test")
        }
    }

    /// Lets so many calls go and then none, until it is given more.
    private final class Supply: Sendable {
        let left: Atomic<Int>
        let refused = Atomic(0)
        init(_ count: Int) { left = Atomic(count) }

        func fileSystem(_ lack: Lack) -> ObservedFileSystem {
            ObservedFileSystem { _ in }.onResource { [self] call in
                guard lack.hits(call) else { return }
                if left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return }
                refused.wrappingAdd(1, ordering: .relaxed)
                throw lack.error
            }
        }
    }

    private func write(
        _ workspace: Workspace, _ round: Int, _ expected: inout [String: String],
        _ uncertain: inout Set<String>
    ) async {
        let values = workspace.dictionary("values")
        for number in 0..<24 {
            // Each fills a good part of a segment, so that the log rotates.
            let value = "\(round)-\(number) " + String(repeating: "x", count: 100_000)
            do {
                try await values.set(value, forKey: "\(number)", durability: .synced)
                expected["\(number)"] = value
                uncertain.remove("\(number)")
            } catch {
                #expect((error as? RoostError)?.code != .corrupt)
                uncertain.insert("\(number)")
            }
        }
        do { try await workspace.compact() } catch { #expect(error is RoostError) }
    }

    @Test(arguments: Lack.allCases)
    func whateverStepLacksThemNothingThatWasAcknowledgedIsLost(lack: Lack) async throws {
        var refusals = 0
        let stepCount = runCount(8, whole: 24)
        for step in 0...stepCount {
            let count = step * 120 / stepCount
            try await withTemporaryDirectory { path in
                let supply = Supply(.max)
                let configuration = Workspace.Configuration(shardCount: 2, memoryBudgetBytes: 0)
                let workspace = try await Workspace.open(
                    at: path, configuration: configuration, fileSystem: supply.fileSystem(lack))
                var expected: [String: String] = [:]
                var uncertain: Set<String> = []
                await write(workspace, 0, &expected, &uncertain)
                #expect(uncertain.isEmpty)
                supply.left.store(count, ordering: .relaxed)
                await write(workspace, 1, &expected, &uncertain)
                refusals += supply.refused.load(ordering: .relaxed)
                supply.left.store(.max, ordering: .relaxed)
                let poisoned = uncertain
                await write(workspace, 2, &expected, &uncertain)
                // There is enough again: what was refused is taken now, without another opening.
                #expect(uncertain.isEmpty, "after \(count): \(poisoned)")
                for (key, value) in expected where !uncertain.contains(key) {
                    #expect(try workspace.dictionary("values")[key, as: String.self] == value)
                }
                try await workspace.close()
                let again = try await Workspace.open(at: path, configuration: configuration)
                for (key, value) in expected where !uncertain.contains(key) {
                    #expect(try again.dictionary("values")[key, as: String.self] == value)
                }
                #expect(try await again.verify().isSound)
                try await again.close()
            }
        }
        #expect(refusals > 0)
    }

    @Test(arguments: Lack.allCases)
    func anOpeningThatLacksThemChangesNothing(lack: Lack) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let values = workspace.dictionary("values")
            try await values.setAll((0..<100).map { ("\($0)", "value \($0)") })
            try await workspace.compact()
            try await values.set("late", forKey: "late", durability: .synced)
            try await workspace.close()
            var count = 0
            while true {
                let supply = Supply(count)
                do {
                    let opened = try await Workspace.open(
                        at: path, configuration: .init(shardCount: 2),
                        fileSystem: supply.fileSystem(lack))
                    supply.left.store(.max, ordering: .relaxed)
                    #expect(try opened.dictionary("values").count == 101)
                    try await opened.close()
                    if supply.refused.load(ordering: .relaxed) == 0 { break }
                } catch { #expect((error as? RoostError)?.code == .io) }
                count += 1
            }
            #expect(count > 0)
            let again = try await Workspace.open(at: path)
            #expect(try again.dictionary("values")["late", as: String.self] == "late")
            #expect(try again.dictionary("values").count == 101)
            #expect(try await again.verify().isSound)
            try await again.close()
        }
    }
}
