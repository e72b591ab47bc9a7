import Foundation
import Roost
import RoostTestSupport
import Synchronization
import Testing

/// As many tasks as there are processors write without a pause: other tasks of the program go on.
@Suite(.timeLimit(.minutes(5))) struct PoolTests {
    private struct Item: Codable, Identifiable, Sendable {
        var id: Int
        var rank: Int
    }

    private struct IndexedItem: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var rank: Int
        static var indexes: [Index<IndexedItem>] { [Index("rank", \.rank)] }
    }

    enum Call: CaseIterable, Sendable {
        case set, typedSet, remove, update, write, transaction, save, saveIndexed, updateIndexed

        func run(_ workspace: Workspace, _ number: Int) async throws {
            let values = workspace.dictionary("values")
            let key = "key \(number % 1000)"
            switch self {
            case .set: try await values.set(number, forKey: key)
            case .typedSet: try await values.set(number, for: Key<Int>(key, default: 0))
            case .remove: try await values.removeValue(forKey: key)
            case .update: try await values.update(key, as: Int.self) { $0 = ($0 ?? 0) + 1 }
            case .write: try await workspace.write { $0.set(number, forKey: key, in: values) }
            case .transaction:
                try await workspace.transaction { transaction in
                    let value = try transaction.value(forKey: key, as: Int.self, in: values) ?? 0
                    try transaction.set(value + 1, forKey: key, in: values)
                }
            case .save:
                try await workspace.repository(of: Item.self).save(
                    Item(id: number % 1000, rank: number))
            case .saveIndexed:
                try await workspace.repository(of: IndexedItem.self).save(
                    IndexedItem(id: number % 1000, rank: number))
            case .updateIndexed:
                _ = try await workspace.repository(of: IndexedItem.self).update(number % 1000) {
                    $0.rank = number
                }
            }
        }
    }

    private final class Stop: Sendable {
        let isSet = Atomic(false)
    }

    /// Writers end by themselves at last, so that a failure is one and no run without an end.
    private static let patience = Duration.seconds(120)

    @Test(arguments: Call.allCases)
    func writersThatNeverPauseLetOthersRun(_ call: Call) async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(durability: .process))
        let items = workspace.repository(of: IndexedItem.self)
        try await items.saveAll((0..<1000).map { IndexedItem(id: $0, rank: $0) })
        try await items.indexesBuilt()
        let stop = Stop()
        let begin = ContinuousClock.now
        let passed = try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0...ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    var number = writer * 100
                    while !stop.isSet.load(ordering: .relaxed),
                        ContinuousClock.now - begin < Self.patience
                    {
                        try await call.run(workspace, number)
                        number += 1
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(20))
            let passed = ContinuousClock.now - begin
            stop.isSet.store(true, ordering: .relaxed)
            try await group.waitForAll()
            return passed
        }
        #expect(passed < Self.patience / 2, "\(call): \(passed)")
        try await workspace.close()
    }
}
