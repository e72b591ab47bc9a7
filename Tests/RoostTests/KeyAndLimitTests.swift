import Foundation
import Roost
import RoostTestSupport
import Testing

private struct Refusing: Codable, Sendable {
    var refuses: Bool
    struct Refusal: Error {}
    init(refuses: Bool) { self.refuses = refuses }
    func encode(to encoder: any Encoder) throws {
        if refuses { throw Refusal() }
        var container = encoder.singleValueContainer()
        try container.encode(refuses)
    }
    init(from decoder: any Decoder) throws {
        refuses = try decoder.singleValueContainer().decode(Bool.self)
    }
}

@Suite struct KeyAndLimitTests {
    private func code(_ body: () async throws -> Void) async -> RoostError.Code? {
        do { try await body() } catch { return (error as? RoostError)?.code }
        return nil
    }

    @Test(arguments: WorkspaceKind.allCases)
    func keysAreTheirBytes(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let composed = "caf\u{e9}"
            let decomposed = "cafe\u{301}"
            #expect(composed == decomposed)
            let keys = [
                composed, decomposed, "", "\0", "a\0", "a", "ab",
                String(repeating: "k", count: 65_536),
            ]
            var workspace = try await home.open()
            for (number, key) in keys.enumerated() {
                try await workspace.dictionary("d").set(number, forKey: key)
                try await workspace.dictionary("").set(-number, forKey: key)
            }
            for compacts in [false, true] {
                if compacts { try await workspace.compact() }
                try await workspace.close()
                workspace = try await home.open()
                let values = workspace.dictionary("d")
                for (number, key) in keys.enumerated() {
                    #expect(try values[key, as: Int.self] == number)
                    #expect(try workspace.dictionary("")[key, as: Int.self] == -number)
                }
                let found = try values.keys.map { Array($0.utf8) }
                let expected = keys.map { Array($0.utf8) }
                #expect(found == expected.sorted { $0.lexicographicallyPrecedes($1) })
                #expect(try workspace.dictionaryNames == ["", "d"])
            }
            try await workspace.dictionary("d").removeValue(forKey: composed)
            #expect(try workspace.dictionary("d").contains(decomposed))
            #expect(try !workspace.dictionary("d").contains(composed))
            try await workspace.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func whatIsTooLargeIsRefusedBeforeAnythingIsWritten(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let values = workspace.dictionary("values")
            try await values.set(1, forKey: "a")
            let before = workspace.statistics
            let longKey = String(repeating: "k", count: 65_537)
            #expect(await code { try await values.set(1, forKey: longKey) } == .keyTooLarge)
            #expect(await code { try await values.removeValue(forKey: longKey) } == .keyTooLarge)
            #expect(
                await code { try await values.setAll([("b", 1), (longKey, 2)]) } == .keyTooLarge)
            let longName = workspace.dictionary(String(repeating: "n", count: 256))
            #expect(await code { try await longName.set(1, forKey: "a") } == .keyTooLarge)
            let large = Data(count: (256 << 20) + 1)
            #expect(await code { try await values.set(large, forKey: "b") } == .valueTooLarge)
            #expect(workspace.statistics.lastSequence == before.lastSequence)
            #expect(workspace.statistics.logBytesAppended == before.logBytesAppended)
            #expect(try values.keys == ["a"])
            try await workspace.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aMismatchNamesBothTypesAndKeepsTheBytes(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let values = workspace.dictionary("values")
            try await values.set("text", forKey: "a")
            for _ in 0..<2 {
                do {
                    _ = try values.value(forKey: "a", as: Int.self)
                    Issue.record("read as a number")
                } catch let error as RoostError {
                    #expect(error.code == .typeMismatch)
                    #expect(error.message.contains("String") && error.message.contains("Int"))
                }
                #expect(try values["a", as: String.self] == "text")
                try await workspace.compact()
            }
            try await workspace.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aValueThatFailsToEncodeChangesNothing(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let values = workspace.dictionary("values")
            try await values.set(Refusing(refuses: false), forKey: "a")
            let before = workspace.statistics.lastSequence
            let bad = Refusing(refuses: true)
            let good = Refusing(refuses: false)
            #expect(await code { try await values.set(bad, forKey: "a") } == .encodingFailed)
            #expect(
                await code { try await values.setAll([("b", good), ("c", bad)]) } == .encodingFailed
            )
            #expect(
                await code {
                    try await workspace.write { batch in
                        batch.set(1, forKey: "b", in: values)
                        batch.set(bad, forKey: "c", in: values)
                    }
                } == .encodingFailed)
            struct Stop: Error {}
            await #expect(throws: Stop.self) {
                try await workspace.write { batch in
                    batch.set(1, forKey: "b", in: values)
                    throw Stop()
                }
            }
            #expect(workspace.statistics.lastSequence == before)
            #expect(try values.keys == ["a"])
            #expect(try values["a", as: Refusing.self]?.refuses == false)
            try await workspace.close()
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aCancelledTaskChangesNothing(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            let values = workspace.dictionary("values")
            let task = Task { () -> [RoostError.Code?] in
                withUnsafeCurrentTask { $0?.cancel() }
                return [
                    await code { try await values.set(1, forKey: "a") },
                    await code { try await values.set(1, forKey: "a", durability: .synced) },
                    await code { try await values.removeValue(forKey: "a") },
                    await code { try await values.removeAll() },
                    await code { try await values.setAll(["a": 1]) },
                    await code { try await workspace.write { $0.set(1, forKey: "a", in: values) } },
                ]
            }
            #expect(await task.value.allSatisfy { $0 == .cancelled })
            #expect(workspace.statistics.lastSequence == 0)
            try await workspace.close()
        }
    }
}
