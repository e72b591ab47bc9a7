import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct ConcurrencyTests {
    static let durabilities: [Durability] = [.process, .interval(.milliseconds(1)), .synced]

    /// Each key is written by one task per durability with numbers that go up; no reader may see
    /// one writer's numbers go down, and the end is what was written last.
    @Test(arguments: WorkspaceKind.allCases)
    func oneKeysChangesBecomeVisibleInOrder(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let values = workspace.dictionary("values")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in 0..<4 {
                    group.addTask {
                        // One task, all durabilities in turn: what it wrote it reads.
                        for number in 1...150 {
                            try await values.set(
                                number, forKey: "\(key)", durability: Self.durabilities[number % 3])
                            let found = try values["\(key)", as: Int.self]
                            #expect(found == number)
                        }
                    }
                    group.addTask {
                        var last = 0
                        while last < 150 {
                            let found = try values["\(key)", default: 0]
                            #expect(found >= last)
                            last = max(last, found)
                            await Task.yield()
                        }
                    }
                }
                group.addTask { for _ in 0..<15 { try await workspace.compact() } }
                try await group.waitForAll()
            }
            try await workspace.close()
            let again = try await home.open()
            for key in 0..<4 {
                let found = try again.dictionary("values")["\(key)", as: Int.self]
                #expect(found == 150)
            }
            try await again.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func manyWritersOfTheSameKeysLeaveWhatReopeningFinds(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open(.init(shardCount: 2))
            let values = workspace.dictionary("values")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<12 {
                    group.addTask {
                        for number in 0..<80 {
                            let durability = Self.durabilities[(writer + number) % 3]
                            let key = "\((writer + number) % 5)"
                            switch number % 8 {
                            case 0:
                                try await values.removeValue(forKey: key, durability: durability)
                            case 1:
                                try await values.setAll(
                                    [("0", writer), ("1", writer), (key, number)],
                                    durability: durability)
                            case 2 where writer == 0:
                                try await values.removeAll(durability: durability)
                            default:
                                try await values.set(
                                    writer * 1_000 + number, forKey: key, durability: durability)
                            }
                        }
                    }
                }
                group.addTask { for _ in 0..<10 { try await workspace.compact() } }
                try await group.waitForAll()
            }
            let before = try (0..<5).map { try values["\($0)", as: Int.self] }
            let keys = try values.keys
            try await workspace.close()
            let again = try await home.open()
            let after = try (0..<5).map { try again.dictionary("values")["\($0)", as: Int.self] }
            #expect(after == before)
            let keysAfter = try again.dictionary("values").keys
            #expect(keysAfter == keys)
            try await again.compact()
            let compacted = try (0..<5).map {
                try again.dictionary("values")["\($0)", as: Int.self]
            }
            #expect(compacted == before)
            try await again.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func batchesAreSeenWhole(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let values = workspace.dictionary("values")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...200 {
                        try await workspace.write(durability: Self.durabilities[number % 3]) {
                            batch in
                            if number % 4 == 0 {
                                batch.removeAll(in: values)
                            } else {
                                for key in 0..<24 {
                                    batch.set(number, forKey: "\(key)", in: values)
                                }
                            }
                        }
                    }
                    try await values.set(true, forKey: "end")
                }
                for _ in 0..<2 {
                    group.addTask {
                        while try !values.contains("end") {
                            let count = try values.count
                            #expect(count == 0 || count == 24 || count == 1)
                            // Read one after another: no later key may be older.
                            var last = 0
                            for key in [3, 17, 9, 22] {
                                guard let found = try values["\(key)", as: Int.self] else { break }
                                #expect(found >= last)
                                last = found
                            }
                            await Task.yield()
                        }
                    }
                }
                group.addTask { for _ in 0..<10 { try await workspace.compact() } }
                try await group.waitForAll()
            }
            try await workspace.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func removingAllFallsWhollyBeforeOrAfterEveryWrite(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let values = workspace.dictionary("values")
            for round in 0..<40 {
                try await values.setAll((0..<20).map { ("old-\($0)", round) })
                if round % 5 == 0 { try await workspace.compact() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await values.removeAll(durability: Self.durabilities[round % 3])
                    }
                    for key in 0..<6 {
                        group.addTask {
                            try await values.set(
                                round, forKey: "new-\(key)", durability: Self.durabilities[key % 3])
                        }
                    }
                    group.addTask {
                        var isGone = false
                        for _ in 0..<30 {
                            let found = try values["old-7", as: Int.self]
                            #expect(found == round || found == nil)
                            #expect(!(isGone && found != nil))
                            isGone = found == nil
                            await Task.yield()
                        }
                    }
                    try await group.waitForAll()
                }
                let keys = try values.keys
                #expect(keys.allSatisfy { $0.hasPrefix("new") }, "round \(round): \(keys)")
            }
            try await workspace.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aColdLoadThatRacesWithASetLeavesNothingStaleResident(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open(.init(shardCount: 1))
            let values = workspace.dictionary("values")
            for round in 0..<60 {
                try await values.set(["\(round)"], forKey: "k")
                try await workspace.compact()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 {
                        group.addTask { _ = try await values.load("k", as: [String].self) }
                        group.addTask { _ = try values["k", as: [String].self] }
                    }
                    group.addTask {
                        try await values.set(
                            ["\(round)", "new"], forKey: "k",
                            durability: Self.durabilities[round % 3])
                    }
                    if round % 2 == 0 { group.addTask { try await workspace.compact() } }
                    try await group.waitForAll()
                }
                for _ in 0..<3 {
                    let found = try values["k", as: [String].self]
                    #expect(found == ["\(round)", "new"])
                }
            }
            try await workspace.close()
        }
    }
}
