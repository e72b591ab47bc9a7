import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

@Suite struct DurabilityTests {
    /// A workspace whose log is synced only while the gate is open.
    private func open(_ path: String, _ gate: Gate) async throws -> Workspace {
        let fileSystem = ObservedFileSystem { call in
            if case .syncData(let name) = call, name.hasPrefix("log") { gate.pass() }
        }
        return try await Workspace.open(
            at: path, configuration: .init(shardCount: 2, durability: .process),
            fileSystem: fileSystem)
    }

    @Test func aSyncedWriteIsInvisibleUntilItIsDurable() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let workspace = try await open(path, gate)
            let values = workspace.dictionary("values")
            try await values.set(1, forKey: "a")
            gate.close()
            async let single: Void = values.set(2, forKey: "a", durability: .synced)
            async let batch: Void = values.setAll(
                (0..<9).map { ("b\($0)", 1) }, durability: .synced)
            await gate.waitForArrival()
            #expect(try values["a", as: Int.self] == 1)
            #expect(try values["b3", as: Int.self] == nil)
            // Another key's writer, and a later one of the same key, wait for nothing.
            try await values.set(5, forKey: "c")
            try await values.set(3, forKey: "a")
            #expect(try values["a", as: Int.self] == 3)
            gate.open()
            try await single
            try await batch
            // In the order of the log, wherever the three stood in it.
            let last = try #require(try values["a", as: Int.self])
            #expect(last == 3 || last == 2)
            let count = try values.count
            #expect(count == 11)
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            #expect(try again.dictionary("values")["a", as: Int.self] == last)
            try await again.close()
        }
    }

    @Test func writesThatWaitForAStagedBatchComplete() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let workspace = try await open(path, gate)
            let values = workspace.dictionary("values")
            gate.close()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await values.setAll((0..<8).map { ("\($0)", -1) }, durability: .synced)
                }
                await gate.waitForArrival()
                for key in 0..<8 {
                    group.addTask { try await values.set(key, forKey: "\(key)") }
                    group.addTask {
                        try await values.set(key, forKey: "\(key)", durability: .synced)
                    }
                }
                group.addTask { try await values.removeValue(forKey: "none") }
                group.addTask { try await workspace.compact() }
                // Nothing gets past the batch while its sync stands at the gate.
                for _ in 0..<200 {
                    #expect(try values["3", as: Int.self] == nil)
                    await Task.yield()
                }
                gate.open()
                try await group.waitForAll()
            }
            for key in 0..<8 { #expect(try values["\(key)", as: Int.self] == key) }
            try await workspace.close()
        }
    }

    @Test func aFailedSyncPoisonsWritersAndNotReaders() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process), fileSystem: plan.fileSystem())
            let values = workspace.dictionary("values")
            try await values.set(1, forKey: "a")
            plan.failNext()
            for durability in [Durability.synced, .process, .interval(.seconds(1))] {
                await #expect {
                    try await values.set(2, forKey: "a", durability: durability)
                } throws: {
                    ($0 as? RoostError)?.code == .poisoned
                }
                #expect(try values["a", as: Int.self] == 1)
            }
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            let found = try again.dictionary("values")["a", as: Int.self]
            #expect(found == 1 || found == 2)
            try await again.dictionary("values").set(3, forKey: "a", durability: .synced)
            try await again.close()
        }
    }

    @Test func closingWhileWritersRunLosesNothingThatSucceeded() async throws {
        for _ in 0..<15 {
            try await withTemporaryDirectory { path in
                let workspace = try await Workspace.open(at: path)
                let values = workspace.dictionary("values")
                let last = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                    for writer in 0..<6 {
                        group.addTask {
                            for number in 1... {
                                // A call that need not wait does not give its thread up.
                                await Task.yield()
                                do {
                                    try await values.set(
                                        number, forKey: "\(writer)",
                                        durability: writer % 2 == 0 ? .synced : .process)
                                } catch let error as RoostError {
                                    #expect(error.code == .closed)
                                    return (writer, number - 1)
                                }
                            }
                            return (writer, 0)
                        }
                    }
                    group.addTask {
                        do { while true { try await workspace.compact() } } catch { return (-1, 0) }
                    }
                    while try !values.contains("4") { await Task.yield() }
                    try await workspace.close()
                    return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
                let again = try await Workspace.open(at: path)
                #expect(again.recovery.tornTails.isEmpty)
                for writer in 0..<6 {
                    let found = try again.dictionary("values")["\(writer)", default: 0]
                    #expect(found >= last[writer]! && found <= last[writer]! + 1)
                }
                try await again.close()
            }
        }
    }
}
