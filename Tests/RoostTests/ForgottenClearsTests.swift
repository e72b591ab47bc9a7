import Foundation
import RoostEngine
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// That a clear is kept for as long as something is left that it removes, and no longer. docs/decisions/0275.
@Suite(.timeLimit(.minutes(10))) struct ForgottenClearsTests {
    private func open(_ path: String) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(shardCount: 4, durability: .process),
            fileSystem: PosixFileSystem()
        ) { $0.restDelay = .seconds(3_600) }
    }

    private func clearedNames(_ workspace: Workspace) async throws -> [String] {
        let clears = try await workspace.engine.pinBase().manifest.clears
        return clears.map { String(decoding: $0.prefix.dropFirst(), as: UTF8.self) }.sorted()
    }

    @Test func dictionariesThatComeAndGoLeaveNothingBehind() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            try await workspace.dictionary("kept").set(1, forKey: "a")
            try await workspace.engine.flush()
            for number in 0..<1_000 {
                let short = workspace.dictionary("s\(number)")
                try await short.set(number, forKey: "a")
                try await short.removeAll()
            }
            try await workspace.engine.flush()
            #expect(try await clearedNames(workspace) == [])
            let left = workspace.engine.clearCounts
            #expect(left == [0, 0, 0, 0])
            #expect(try workspace.dictionary("s7")["a", as: Int.self] == nil)
            #expect(try workspace.dictionary("s7").count == 0)
            try await workspace.close()

            let again = try await open(path)
            #expect(again.engine.clearCounts == [0, 0, 0, 0])
            for number in 0..<1_000 {
                #expect(try again.dictionary("s\(number)").count == 0)
            }
            #expect(try again.dictionary("kept")["a", as: Int.self] == 1)
            #expect(try await again.verify().isSound)
            try await again.close()
        }
    }

    /// One that snapshots hold older records of stays, and one that came after the flush had begun.
    @Test func aClearStaysForAsLongAsItRemovesSomething() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open(path)
            for name in ["large", "other"] {
                try await workspace.dictionary(name).setAll((0..<100).map { ("\($0)", $0) })
            }
            try await workspace.engine.flush()
            try await workspace.dictionary("large").removeAll()
            try await workspace.dictionary("large").set(-1, forKey: "7")
            try await workspace.dictionary("short").set(1, forKey: "a")
            try await workspace.dictionary("short").removeAll()
            try await workspace.engine.flush()
            #expect(try await clearedNames(workspace) == ["large"])
            try await workspace.close()
            workspace = try await open(path)
            #expect(try workspace.dictionary("large").count == 1)
            #expect(try workspace.dictionary("large")["7", as: Int.self] == -1)
            #expect(try workspace.dictionary("large")["8", as: Int.self] == nil)
            try await workspace.compact()
            #expect(try await clearedNames(workspace) == [])
            #expect(try workspace.dictionary("large").count == 1)
            #expect(try workspace.dictionary("other").count == 100)
            try await workspace.close()
        }
    }

    /// Of a dictionary that is emptied again and filled again, each time before and after a flush.
    @Test func whatIsEmptiedAgainIsEmpty() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open(path)
            for round in 0..<12 {
                let values = workspace.dictionary("values")
                try await values.setAll((0..<40).map { ("\($0)", round) })
                if round % 2 == 0 { try await workspace.engine.flush() }
                let view = try workspace.readView()
                try await values.removeAll()
                if round % 3 == 0 { try await values.set(-round, forKey: "\(round)") }
                try await workspace.engine.flush()
                #expect(try values.count == (round % 3 == 0 ? 1 : 0))
                #expect(try view.count(of: values) == 40)
                #expect(try view.value(forKey: "3", as: Int.self, in: values) == round)
                view.close()
                guard round % 4 == 3 else { continue }
                try await workspace.close()
                workspace = try await open(path)
                #expect(try workspace.dictionary("values").count == (round % 3 == 0 ? 1 : 0))
            }
            try await workspace.close()
        }
    }

    @Test func aBackupBehindForgottenClearsIsTheSame() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open("\(path)/source")
            for number in 0..<50 {
                let values = workspace.dictionary("v\(number)")
                try await values.setAll((0..<20).map { ("\($0)", number) })
                if number == 20 { try await workspace.engine.flush() }
                try await values.removeAll()
                if number % 5 == 0 { try await values.set(number, forKey: "after") }
            }
            try await workspace.backup(to: "\(path)/copy")
            // Of the others no snapshot ever had anything older.
            #expect(try await clearedNames(workspace) == ["v20"])
            try await workspace.close()
            let copy = try await open("\(path)/copy")
            for number in 0..<50 {
                #expect(try copy.dictionary("v\(number)").count == (number % 5 == 0 ? 1 : 0))
            }
            try await copy.close()
        }
    }

    /// A reader takes the cold storage over shard by shard; a view that begins meanwhile has some shards as they were
    /// before, with what the forgotten clear has removed.
    @Test func aReaderSeesNothingAgainThatWasRemoved() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            let reader = try await Workspace.open(
                at: path,
                configuration: .init(access: .readOnly, shardCount: 256))
            let read = reader.dictionary("values")
            let isDone = Flag()
            let looking = Task.detached {
                var lookCount = 0
                while !isDone.isSet {
                    let view = try reader.readView()
                    // All keys of a round come in one batch and go in one.
                    let count = try view.count(of: read)
                    #expect(count == 0 || count == 256)
                    view.close()
                    lookCount += 1
                    await Task.yield()
                }
                return lookCount
            }
            for round in 0..<300 {
                let values = workspace.dictionary("values")
                try await values.setAll((0..<256).map { ("\($0)", round) })
                try await values.removeAll()
                try await workspace.engine.flush()
                try await reader.catchUp()
                #expect(try read.count == 0)
            }
            isDone.set()
            #expect(try await looking.value > 0)
            try await reader.close()
            try await workspace.close()
        }
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
