import Foundation
import Roost
import Testing

@Suite struct InMemoryTests {
    @Test func aWorkspaceWithoutFilesDoesWhatOneWithFilesDoes() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        for number in 0..<2_000 { try await numbers.set(number, forKey: "\(number)") }
        try await numbers.set(-1, forKey: "7", durability: .synced)
        try await workspace.compact()
        #expect(try numbers["7", as: Int.self] == -1)
        #expect(try numbers["1999", as: Int.self] == 1_999)
        #expect(try numbers.count == 2_000)
        #expect(try await workspace.verify().isSound)
        try await numbers.removeAll()
        #expect(try numbers.keys.isEmpty)
        try await workspace.close()
        await #expect(throws: RoostError.self) { try await numbers.set(1, forKey: "late") }
        #expect(!FileManager.default.fileExists(atPath: workspace.path))
    }

    @Test func twoOfThemKnowNothingOfEachOther() async throws {
        let first = try await Workspace.inMemory()
        let second = try await Workspace.inMemory()
        try await first.dictionary("d").set(1, forKey: "a")
        #expect(try second.dictionary("d")["a", as: Int.self] == nil)
        try await first.close()
        try await second.close()
    }

    @Test func aPathOpensAsStringAsURLAndAsFilePath() async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-test-\(UUID().uuidString)")
        try await Workspace.open(at: path).close()
        try await Workspace.open(at: FilePath(path.path)).close()
        try await Workspace.open(at: path.path).close()
        try FileManager.default.removeItem(at: path)
    }
}
