import Roost
import RoostShared
import RoostTestSupport
import Testing

@Suite struct FollowByKeyTests {
    private func connect(_ engine: MemoryEngine) async throws -> SharedWorkspace {
        // Eighty loads at once wait for each other's turns; on a busy machine that took longer than the usual ten seconds.
        try await .connect(
            to: .memory(engine), namespace: "test", configuration: .init(callDeadline: .seconds(60))
        )
    }

    @Test func keysAreLoadedAsTheyAreAskedForAndFollowedThen() async throws {
        let shared = try await connect(MemoryEngine())
        let local = try await Workspace.inMemory()
        let settings = shared.dictionary("settings")
        try await settings.setAll(["volume": 0.25, "speed": 2.0])
        let followed = try await shared.follow("settings", in: local, loading: .byKey)
        let error = #expect(throws: RoostError.self) { try followed["volume", default: 0.5] }
        #expect(error?.code == .notLoaded)
        #expect(try await followed.load("volume", as: Double.self) == 0.25)
        #expect(try await followed.load("none", as: Double.self) == nil)
        #expect(try followed["volume", default: 0.5] == 0.25)
        #expect(try followed["none", default: 0.5] == 0.5)
        #expect(!followed.isLoaded("speed"))
        #expect(try followed.keys == ["volume"])

        try await settings.setAll(["volume": 0.75, "speed": 3.0, "none": 1.0])
        try await followed.reached(try await shared.revision, within: .seconds(60))
        #expect(try followed["volume", default: 0.5] == 0.75)
        #expect(try followed["none", default: 0.5] == 1.0)
        #expect(!followed.isLoaded("speed"))
        try await settings.removeValue(forKey: "volume")
        try await followed.reached(try await shared.revision, within: .seconds(60))
        #expect(try !followed.contains("volume"))

        await shared.close()
        #expect(try followed["none", default: 0.5] == 1.0)
        let unreachable = await #expect(throws: RoostError.self) {
            try await followed.load("speed", as: Double.self)
        }
        #expect(unreachable?.code == .closed)
    }

    /// What was loaded is so after a restart, also that a key has no value.
    @Test(arguments: [false, true])
    func aRestartKnowsWhatWasLoaded(isCompacted: Bool) async throws {
        try await withTemporaryDirectory { path in
            let engine = MemoryEngine()
            let shared = try await connect(engine)
            let settings = shared.dictionary("settings")
            try await settings.setAll(["a": 1, "b": 2, "c": 3])
            var local = try await Workspace.open(at: "\(path)/local")
            var followed = try await shared.follow("settings", in: local, loading: .byKey)
            for key in ["a", "b", "none"] { _ = try await followed.load(key, as: Int.self) }
            followed.stop()
            try await local.close()

            try await settings.setAll(["a": 10, "c": 30, "none": 5])
            try await settings.removeValue(forKey: "b")
            if isCompacted { engine.compact(before: try await shared.revision) }
            local = try await Workspace.open(at: "\(path)/local")
            followed = try await shared.follow("settings", in: local, loading: .byKey)
            try await followed.reached(try await shared.revision, within: .seconds(60))
            #expect(try followed.keys == ["a", "none"])
            #expect(try followed["a", default: 0] == 10)
            #expect(try followed["none", default: 0] == 5)
            #expect(!followed.isLoaded("c"))
            #expect(try await followed.load("c", as: Int.self) == 30)
            try await local.close()
        }
    }

    /// All that is loaded is read anew after a compaction, though that takes longer than one call may.
    @Test func manyKeysAreLoadedAnewInPieces() async throws {
        let engine = HookedEngine()
        let shared = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(10)))
        // What is written is no part of this: it has its time on a busy machine.
        let numbers = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(120))
        ).dictionary("numbers")
        let keys = (0..<800).map { "k\($0)" }
        for first in stride(from: 0, to: keys.count, by: 100) {
            try await numbers.setAll(keys[first..<first + 100].map { ($0, 1) })
        }
        let local = try await Workspace.inMemory()
        var followed = try await shared.follow("numbers", in: local, loading: .byKey)
        for key in keys { _ = try await followed.load(key, as: Int.self) }
        await followed.close()
        for first in stride(from: 0, to: keys.count, by: 100) {
            try await numbers.setAll(keys[first..<first + 100].map { ($0, 2) })
        }
        engine.engine.compact(before: try await shared.revision)
        engine.set {
            // Twelve seconds for all of them, sixteen at once.
            $0.read = { read in
                guard read.range.lower.starts(with: Array("test/numbers/k".utf8)) else {
                    return nil
                }
                try await Task.sleep(for: .milliseconds(250))
                return nil
            }
        }
        followed = try await shared.follow("numbers", in: local, loading: .byKey)
        try await followed.reached(try await shared.revision, within: .seconds(180))
        for key in keys { #expect(try followed[key, default: 0] == 2) }
        await followed.close()
        try await local.close()
    }

    /// Keys are loaded while all of them change together, connections break and revisions are given up: what is read of
    /// two keys never goes back, and is of one commit once the writer rests.
    @Test func whatIsLoadedNeverGoesBack() async throws {
        let engine = MemoryEngine()
        let shared = try await connect(engine)
        let local = try await Workspace.inMemory()
        let numbers = shared.dictionary("numbers")
        let keys = (0..<40).map { "k\($0)" }
        let followed = try await shared.follow("numbers", in: local, loading: .byKey)
        let writer = Task {
            for number in 1...400 {
                try await numbers.setAll(keys.map { ($0, number) })
                if number % 10 == 0 { engine.breakWatches() }
                if number % 70 == 0 { engine.compact(before: try await shared.revision) }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys + keys {
                group.addTask {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0..<200)))
                    var last = try await followed.load(key, as: Int.self) ?? 0
                    for _ in 0..<20 {
                        let number = try followed[key, default: 0]
                        #expect(number >= last)
                        last = number
                        try await Task.sleep(for: .milliseconds(5))
                    }
                }
            }
            try await group.waitForAll()
        }
        try await writer.value
        try await followed.reached(try await shared.revision, within: .seconds(120))
        for key in keys { #expect(try followed[key, default: 0] == 400) }
    }
}
