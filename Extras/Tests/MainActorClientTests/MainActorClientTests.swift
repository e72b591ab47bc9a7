import Foundation
import Roost
import RoostMacros
import Testing

// Compiled with `-default-isolation MainActor`, as apps are: nothing here says where it runs.

@BinaryCodable struct Draft: Equatable {
    @Field(1) var title: String
    @Field(2) var body: String
    @Field(3) var tags: [String] = []
    @Field(4) var shape: Shape = .point
    @Field(5) var reminder: Date?

    var summary: String { title + ": " + body }
}

@BinaryCodable indirect enum Shape: Equatable {
    @Field(1) case point
    @Field(2) case circle(radius: Double)
    @Field(3) case group([Shape], name: String? = nil)
}

enum Theme: String, BinaryCodable { case light, dark }

@BinaryCodable public struct Account {
    @Field(1) public let name: String
    @Field(2) var theme: Theme = .light
    @Field(3) var limits: [String: Int] = [:]
}

@Suite struct MainActorClientTests {
    @Test func modelsAreStoredAndRead() async throws {
        let workspace = try await Workspace.inMemory()
        let drafts = workspace.dictionary("drafts")
        let draft = Draft(
            title: "a", body: "b", tags: ["c"],
            shape: .group([.circle(radius: 2), .point], name: "pair"),
            reminder: Date(timeIntervalSinceReferenceDate: 5))
        try await drafts.set(draft, forKey: "one")
        #expect(try drafts["one", as: Draft.self] == draft)
        #expect(try await drafts.load("one", as: Draft.self)?.summary == "a: b")
        try await drafts.setAll([("two", draft), ("three", draft)])
        #expect(try drafts.keys.count == 3)
        try await workspace.write { batch in
            batch.set(
                Account(name: "ada", theme: .dark, limits: ["a": 1]), forKey: "ada", in: drafts)
        }
        let account = try #require(try drafts["ada", as: Account.self])
        #expect(account.name == "ada" && account.theme == .dark && account.limits == ["a": 1])
        try await workspace.close()
    }

    /// A value must be encoded wherever a task runs.
    @Test func modelsAreEncodedOffTheMainActor() async throws {
        let bytes = try await Task.detached {
            try BinaryWriter.encode(Draft(title: "a", body: "b", shape: .circle(radius: 1)))
        }.value
        let draft = try BinaryReader.decode(Draft.self, from: bytes)
        #expect(draft == Draft(title: "a", body: "b", shape: .circle(radius: 1)))
    }
}
