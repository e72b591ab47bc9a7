import Roost
import RoostTestSupport
import Testing

@Suite struct UnchangedTests {
    /// Runs `body` and returns how many batches it wrote.
    private func batches(
        of workspace: Workspace, _ body: () async throws -> Void
    ) async throws -> UInt64 {
        let before = workspace.statistics.lastSequence
        try await body()
        return workspace.statistics.lastSequence - before
    }

    /// Nothing is written, and what was found is on disk all the same when the call returns.
    @Test func whatNeedsNoWriteIsAsDurableAsAskedFor() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process))
            let values = workspace.dictionary("values")
            func isDurable() -> Bool {
                let statistics = workspace.statistics
                return statistics.durableSequence == statistics.lastSequence
            }
            try await values.set(1, forKey: "k", durability: .synced)
            try await values.removeValue(forKey: "k")
            let written = try await batches(of: workspace) { () async throws in
                try await values.update("k", as: Int.self, durability: .synced) { $0 = nil }
            }
            #expect(written == 0 && isDurable())

            try await values.set(2, forKey: "k")
            let read = try await batches(of: workspace) { () async throws in
                let value = try await workspace.transaction(durability: .synced) {
                    try $0.value(forKey: "k", as: Int.self, in: values)
                }
                #expect(value == 2)
            }
            #expect(read == 0 && isDurable())
            try await workspace.close()
        }
    }

    @Test func anEqualValueIsNotWrittenAgainAndTheCallSaysSo() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        let written = try await batches(of: workspace) { () async throws in
            #expect(try await values.set(7, forKey: "n", onlyIfChanged: true))
            #expect(
                try await values.set(
                    Profile(name: "Ada", age: 36), forKey: "p", onlyIfChanged: true))
            #expect(try await values.set(Point(x: 1, y: 2), forKey: "b", onlyIfChanged: true))
            #expect(try await values.set(.dark, for: .theme, onlyIfChanged: true))
        }
        #expect(written == 4)
        for isCold in [false, true] {
            if isCold { try await workspace.compact() }
            let repeated = try await batches(of: workspace) { () async throws in
                #expect(try await !values.set(7, forKey: "n", onlyIfChanged: true))
                #expect(
                    try await !values.set(
                        Profile(name: "Ada", age: 36), forKey: "p", onlyIfChanged: true))
                #expect(try await !values.set(Point(x: 1, y: 2), forKey: "b", onlyIfChanged: true))
                #expect(try await !values.set(.dark, for: .theme, onlyIfChanged: true))
            }
            #expect(repeated == 0)
        }
        let changed = try await batches(of: workspace) { () async throws in
            #expect(try await values.set(8, forKey: "n", onlyIfChanged: true))
            #expect(
                try await values.set(
                    Profile(name: "Ada", age: 37), forKey: "p", onlyIfChanged: true))
            #expect(try await values.set(.light, for: .theme, onlyIfChanged: true))
        }
        #expect(changed == 3)
        #expect(try values["n", as: Int.self] == 8)
        #expect(try values["p", as: Profile.self]?.age == 37)
        #expect(try values[.theme] == .light)
        try await workspace.close()
    }

    @Test func withoutTheWishEveryCallWrites() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(7, forKey: "n")
        let written = try await batches(of: workspace) { () async throws in
            #expect(try await values.set(7, forKey: "n", onlyIfChanged: false))
        }
        #expect(written == 1)
        try await workspace.close()
    }

    @Test func equalIsWhatTheTypeSays() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(Tag(text: "Swift"), forKey: "tag")
        #expect(try await !values.set(Tag(text: "SWIFT"), forKey: "tag", onlyIfChanged: true))
        #expect(try values["tag", as: Tag.self]?.text == "Swift")
        try await workspace.close()
    }

    @Test func anEqualValueOfAnotherCoderIsEqual() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(Profile(name: "Ada", age: 36), forKey: "p", coder: .json)
        #expect(
            try await !values.set(Profile(name: "Ada", age: 36), forKey: "p", onlyIfChanged: true))
        try await workspace.close()
    }

    @Test func aValueOfAnotherTypeIsAChange() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set("7", forKey: "n")
        #expect(try await values.set(7, forKey: "n", onlyIfChanged: true))
        try await values.set(Label(text: "x"), forKey: "p")
        #expect(try await values.set(Profile(name: "x", age: 1), forKey: "p", onlyIfChanged: true))
        #expect(try values["n", as: Int.self] == 7)
        #expect(try values["p", as: Profile.self]?.name == "x")
        try await workspace.close()
    }

    @Test func anOptionalKeyIsRemovedOnceAndADefaultIsNotStored() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        #expect(try await !values.set(nil, for: .nickname, onlyIfChanged: true))
        #expect(try await values.set("ada", for: .nickname, onlyIfChanged: true))
        #expect(try await values.set(nil, for: .nickname, onlyIfChanged: true))
        #expect(try await !values.set(nil, for: .nickname, onlyIfChanged: true))
        #expect(try await values.set(0, for: .launches, onlyIfChanged: true))
        #expect(try values.keys == ["launches"])
        try await workspace.close()
    }

    @Test func whatIsNotWrittenAgainIsAsDurableAsAsked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process))
            let values = workspace.dictionary("values")
            try await values.set(7, forKey: "n", durability: .process)
            let written = workspace.statistics.lastSequence
            #expect(workspace.statistics.durableSequence < written)
            #expect(
                try await !values.set(7, forKey: "n", onlyIfChanged: true, durability: .process))
            #expect(workspace.statistics.durableSequence < written)
            #expect(try await !values.set(7, forKey: "n", onlyIfChanged: true, durability: .synced))
            #expect(workspace.statistics.durableSequence >= written)
            try await workspace.close()
        }
    }

    @Test func aCallThatWouldWriteNothingFailsWhereAWriteWould() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("d").set(7, forKey: "n")
            try await workspace.close()
            let readOnly = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            let error = await #expect(throws: RoostError.self) {
                try await readOnly.dictionary("d").set(7, forKey: "n", onlyIfChanged: true)
            }
            #expect(error?.code == .readOnly)
            try await readOnly.close()
        }
    }

    @Test func amongManyWritersTheLastOfEachToggleIsNeverLost() async throws {
        // Each task alone sets its value, others set theirs in between: a call that says that it
        // wrote nothing must have seen its value stored.
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var writes = 0
                    for _ in 0..<500
                    where try await values.set(writer % 2, forKey: "n", onlyIfChanged: true) {
                        writes += 1
                    }
                    return writes
                }
            }
            var written = 0
            for try await writes in group { written += writes }
            #expect(UInt64(written) == workspace.statistics.lastSequence)
        }
        let last = try #require(try values["n", as: Int.self])
        #expect(try await !values.set(last, forKey: "n", onlyIfChanged: true))
        try await workspace.close()
    }
}
