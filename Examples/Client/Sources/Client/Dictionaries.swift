import Foundation
import Roost

extension Client {
    static func checkDictionaries(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let settings = workspace.dictionary("settings")
        let launches = try settings.value(forKey: "launches", as: Int.self)
        try check(launches == 1, "what an earlier opening wrote is there")
        try await settings.set((launches ?? 0) + 1, forKey: "launches")
        try check(try settings["launches", as: Int.self] == 2, "the newer value is read")
        let volume = try settings["volume", default: 0.5]
        try check(volume == 0.5, "a missing value is the default")

        let draft = Draft(title: "Roost", body: "A place to sleep", tags: ["birds"])
        try await settings.set(draft, forKey: "draft", durability: .synced)
        try check(try settings["draft", as: Draft.self] == draft, "a Codable value is read")
        let cold = try await settings.load("draft", as: Draft.self)
        try check(cold == draft, "a Codable value is loaded")
        let user = User(name: "Ada", age: 36)
        try await settings.set(user, forKey: "user", durability: .process)
        try check(try settings["user", as: User.self] == user, "a binary value is read")
        try check(try settings.value(forKey: "nobody", as: User.self) == nil, "none is nil")

        try await checkKinds(settings)
        try check(try settings.contains("draft"), "it is there")
        try await settings.removeValue(forKey: "draft")
        try check(try !settings.contains("draft"), "it is gone")
        try await settings.removeValue(forKey: "draft")

        let scratch = workspace.dictionary("scratch")
        try await scratch.set("é", forKey: "caf\u{e9}")
        try await scratch.set("e + accent", forKey: "cafe\u{301}")
        try await scratch.set("NUL", forKey: "a\0b")
        try await scratch.set("empty", forKey: "")
        try check(try scratch.count == 4, "keys differ by their bytes")
        try check(
            try scratch.keys.map { Array($0.utf8) }
                == ["", "a\0b", "cafe\u{301}", "caf\u{e9}"].map { Array($0.utf8) },
            "keys come in the order of their bytes")
        try check(try workspace.dictionaryNames == ["scratch", "settings"], "both are there")
        try await scratch.removeAll()
        try check(try scratch.count == 0 && scratch.keys.isEmpty, "all are gone")
        try await workspace.synchronize()
        try await workspace.close()
    }

    private static func checkKinds(_ values: WorkspaceDictionary) async throws {
        try await checkKind(true, values)
        try await checkKind(-7, values)
        try await checkKind(Int8(-8), values)
        try await checkKind(Int16.min, values)
        try await checkKind(Int32.max, values)
        try await checkKind(Int64.min, values)
        try await checkKind(UInt.max, values)
        try await checkKind(UInt8(8), values)
        try await checkKind(UInt16.max, values)
        try await checkKind(UInt32.max, values)
        try await checkKind(UInt64.max, values)
        try await checkKind(Float(0.1), values)
        try await checkKind(-0.0, values)
        try await checkKind("text\0with NUL", values)
        try await checkKind(Data([0, 1, 255]), values)
        try await checkKind([UInt8](repeating: 9, count: 5000), values)
        try await checkKind(Date(timeIntervalSince1970: 1), values)
        try await checkKind(UUID(), values)
        try await checkKind(["a", "b"], values)
        try await checkKind(["a": 1], values)
    }

    private static func checkKind<Value: BinaryCodable & Equatable & Sendable>(
        _ value: Value, _ values: WorkspaceDictionary
    ) async throws {
        try await values.set(value, forKey: "kind")
        try check(try values["kind", as: Value.self] == value, "\(Value.self) comes back")
    }
}
