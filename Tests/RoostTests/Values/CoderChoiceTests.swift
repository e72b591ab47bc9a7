import Roost
import RoostFormat
import RoostTestSupport
import Testing

@Suite struct CoderChoiceTests {
    private let profile = Profile(name: "Ada", age: 36, tags: ["x"])

    private func kind(_ key: String, _ values: WorkspaceDictionary) throws -> UInt8? {
        try values.storedValue(forKey: key)?.kind
    }

    @Test func codableValuesAreWrittenInRoostsOwnFormUnlessSomebodyChooses() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        #expect(values.coder == .roost)
        try await values.set(profile, forKey: "p")
        #expect(try kind("p", values) == ValueKind.roost.rawValue)
        try await workspace.close()
    }

    @Test func theWorkspaceTheDictionaryAndTheCallChooseEachOverTheOneBefore() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(coder: .propertyList))
        let values = workspace.dictionary("values")
        let json = workspace.dictionary("values", coder: .json)
        try await values.set(profile, forKey: "workspace")
        try await json.set(profile, forKey: "dictionary")
        try await json.set(profile, forKey: "call", coder: .roost)
        try await json.setAll(["all": profile])
        try await workspace.write { $0.set(profile, forKey: "batch", in: json) }
        try await json.set(profile, for: Key<Profile?>("key"))
        #expect(try kind("workspace", values) == ValueKind.propertyList.rawValue)
        for key in ["dictionary", "all", "batch", "key"] {
            #expect(try kind(key, values) == ValueKind.json.rawValue, "\(key)")
        }
        #expect(try kind("call", values) == ValueKind.roost.rawValue)
        for key in try values.keys { #expect(try values[key, as: Profile.self] == profile) }
        try await workspace.close()
    }

    @Test func aChangedDefaultStillReadsWhatWasWritten() async throws {
        try await withTemporaryDirectory { path in
            for (key, coder) in [("j", ValueCoder.json), ("p", .propertyList), ("r", .roost)] {
                let workspace = try await Workspace.open(
                    at: path, configuration: .init(coder: coder))
                try await workspace.dictionary("d").set(profile, forKey: key)
                try await workspace.close()
            }
            let workspace = try await Workspace.open(at: path)
            let values = workspace.dictionary("d")
            for key in ["j", "p", "r"] { #expect(try values[key, as: Profile.self] == profile) }
            try await workspace.compact()
            for key in ["j", "p", "r"] { #expect(try values[key, as: Profile.self] == profile) }
            try await workspace.close()
        }
    }

    @Test func aBinaryTypeHasItsOwnFormWhateverTheCoder() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(coder: .json))
        let values = workspace.dictionary("values")
        try await values.set(Point(x: 1, y: 2), forKey: "p")
        #expect(try kind("p", values) == ValueKind.binary.rawValue)
        try await values.set(5, forKey: "n", coder: .json)
        #expect(try kind("n", values) == ValueKind.int.rawValue)
        try await workspace.close()
    }
}
