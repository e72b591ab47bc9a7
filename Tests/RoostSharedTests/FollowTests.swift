import Roost
import RoostShared
import RoostTestSupport
import Testing

@Suite struct FollowTests {
    private func connect(_ engine: MemoryEngine) async throws -> SharedWorkspace {
        try await .connect(to: .memory(engine), namespace: "test")
    }

    @Test func readsAreSynchronousAndFollowTheEngine() async throws {
        let shared = try await connect(MemoryEngine())
        let local = try await Workspace.inMemory()
        let settings = shared.dictionary("settings")
        try await settings.setAll(["volume": 0.25, "speed": 2.0])
        let followed = try await shared.follow("settings", in: local)
        #expect(try followed["volume", default: 0.5] == 0.25)
        #expect(try followed.count == 2)
        #expect(try followed.count(prefix: "vol") == 1)
        try await settings.set(0.75, forKey: "volume")
        try await settings.removeValue(forKey: "speed")
        try await followed.reached(try await shared.revision, within: .seconds(60))
        #expect(try followed["volume", default: 0.5] == 0.75)
        #expect(try followed.keys == ["volume"])
        #expect(followed.lag < .seconds(60))
        await shared.close()
        #expect(try followed["volume", default: 0.5] == 0.75)
    }

    /// A slash may stand in both names.
    @Test(arguments: [FollowLoading.whole, .byKey])
    func dictionariesOfSeveralNamespacesAreToldApart(loading: FollowLoading) async throws {
        let engine = MemoryEngine()
        let local = try await Workspace.inMemory()
        let places = [("a", "b/c"), ("a/b", "c"), ("a", "b%2Fc"), ("a%2Fb", "c")]
        for _ in 0..<2 {
            for (number, (namespace, name)) in places.enumerated() {
                let shared = try await SharedWorkspace.connect(
                    to: .memory(engine), namespace: namespace)
                try await shared.dictionary(name).set(number, forKey: "n")
                let followed = try await shared.follow(name, in: local, loading: loading)
                _ = try await followed.load("n", as: Int.self)
                try await followed.reached(try await shared.revision, within: .seconds(120))
                #expect(try followed["n", default: -1] == number)
                await followed.close()
            }
        }
        // Each is there without anybody to ask.
        await engine.close()
        for (number, (namespace, name)) in places.enumerated() {
            let shared = try await SharedWorkspace.connect(
                to: .memory(engine), namespace: namespace,
                configuration: .init(connectsLazily: true))
            let followed = try await shared.follow(name, in: local, loading: loading)
            #expect(try followed["n", default: -1] == number)
            await followed.close()
        }
        try await local.close()
    }

    /// The next opening goes on from the revision that was kept, or, where that was compacted, loads anew.
    @Test(arguments: [false, true])
    func aRestartGoesOnWhereItWas(isCompacted: Bool) async throws {
        try await withTemporaryDirectory { path in
            let engine = MemoryEngine()
            let shared = try await connect(engine)
            let settings = shared.dictionary("settings")
            try await settings.setAll(["a": 1, "b": 2])
            var local = try await Workspace.open(at: "\(path)/local")
            var followed = try await shared.follow("settings", in: local)
            let revision = followed.revision
            followed.stop()
            try await local.close()

            try await settings.set(3, forKey: "c")
            try await settings.removeValue(forKey: "a")
            if isCompacted { engine.compact(before: try await shared.revision) }
            local = try await Workspace.open(at: "\(path)/local")
            followed = try await shared.follow("settings", in: local)
            #expect(followed.revision >= revision)
            try await followed.reached(try await shared.revision, within: .seconds(60))
            #expect(try followed.keys == ["b", "c"])
            try await local.close()
        }
    }

    /// Revisions that are seen only grow, and what is read of them too.
    @Test func readsNeverGoBackWhileConnectionsBreak() async throws {
        let engine = MemoryEngine()
        let shared = try await connect(engine)
        let local = try await Workspace.inMemory()
        let followed = try await shared.follow("numbers", in: local)
        let numbers = shared.dictionary("numbers")
        let writer = Task {
            for number in 1...300 {
                try await numbers.set(number, forKey: "n")
                if number % 10 == 0 { engine.breakWatches() }
                if number % 70 == 0 { engine.compact(before: try await shared.revision) }
            }
        }
        var last = 0
        var lastRevision: UInt64 = 0
        let end = ContinuousClock.now + .seconds(120)
        while last < 300, ContinuousClock.now < end {
            let revision = followed.revision
            let number = try followed["n", default: 0]
            #expect(number >= last)
            #expect(revision >= lastRevision)
            (last, lastRevision) = (number, revision)
            await Task.yield()
        }
        #expect(last == 300)
        try await writer.value
    }
}
