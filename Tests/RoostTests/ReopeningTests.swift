import Foundation
import Roost
import RoostTestSupport
import Testing

private struct Draft: Codable, Equatable, Sendable {
    var title: String
    var tags: [String]
}

@Suite struct ReopeningTests {
    @Test(arguments: WorkspaceKind.allCases)
    func everyKindOfValueIsReadBackFromTheLogAndFromSnapshots(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            var values = workspace.dictionary("values")
            try await values.set(true, forKey: "bool")
            try await values.set(-42, forKey: "int")
            try await values.set(UInt8(200), forKey: "uint8")
            try await values.set(1.5, forKey: "double")
            try await values.set("text", forKey: "string")
            try await values.set(Data([1, 2, 3]), forKey: "data")
            try await values.set([UInt8](repeating: 7, count: 1000), forKey: "bytes")
            try await values.set(
                Draft(title: "a", tags: ["b"]), forKey: "draft", durability: .synced)
            func check() throws {
                #expect(try values["bool", as: Bool.self] == true)
                #expect(try values.value(forKey: "int", as: Int.self) == -42)
                #expect(try values.value(forKey: "uint8", as: UInt8.self) == 200)
                #expect(try values["double", default: 0.5] == 1.5)
                #expect(try values["double", default: 0.5] + 1 > 2.25)
                #expect(try values["string", as: String.self] == "text")
                #expect(try values["data", as: Data.self] == Data([1, 2, 3]))
                #expect(try values["bytes", as: [UInt8].self] == [UInt8](repeating: 7, count: 1000))
                #expect(try values["draft", as: Draft.self] == Draft(title: "a", tags: ["b"]))
                #expect(try values["missing", as: Int.self] == nil)
                #expect(try values.count == 8)
                #expect(
                    try values.keys == [
                        "bool", "bytes", "data", "double", "draft", "int", "string", "uint8",
                    ])
            }
            try check()
            try await workspace.close()
            workspace = try await home.open()
            values = workspace.dictionary("values")
            try check()
            try await workspace.compact()
            try check()
            try await workspace.close()
            workspace = try await home.open()
            values = workspace.dictionary("values")
            #expect(workspace.recovery.replayedBatchCount == 0)
            try check()
            let report = try await workspace.verify()
            #expect(report.isSound, "\(report.damages)")
            #expect(report.recordCount == 8)
            try await values.removeAll()
            #expect(try values.count == 0)
            #expect(try values["int", as: Int.self] == nil)
            try await values.set(1, forKey: "after")
            try await workspace.compact()
            #expect(try values.keys == ["after"])
            try await workspace.close()
        }
    }
}
