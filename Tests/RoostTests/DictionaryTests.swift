import Roost
import RoostTestSupport
import Testing

/// What a dictionary of keys and values is taken for granted to do, before and after its values
/// were moved to where they stay.
@Suite struct DictionaryTests {
    enum Persistence: CaseIterable {
        case none, synchronized, compacted, reopened

        func apply(to workspace: Workspace, _ home: WorkspaceHome) async throws -> Workspace {
            switch self {
            case .none: return workspace
            case .synchronized: try await workspace.synchronize()
            case .compacted: try await workspace.compact()
            case .reopened:
                try await workspace.close()
                return try await home.open()
            }
            return workspace
        }
    }

    @Test(arguments: WorkspaceKind.allCases, Persistence.allCases)
    func keysAndRemoveAllHoldBeforeAndAfterPersistence(
        kind: WorkspaceKind, persistence: Persistence
    ) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            try await workspace.dictionary("other").set("stays", forKey: "a")
            for round in 0..<2 {
                try await workspace.dictionary("d").setAll([("b", 1), ("a", 2), ("c", 3)])
                try await workspace.dictionary("d").removeValue(forKey: "c")
                workspace = try await persistence.apply(to: workspace, home)
                #expect(try workspace.dictionary("d").keys == ["a", "b"], "round \(round)")
                #expect(try workspace.dictionary("d")["a", as: Int.self] == 2)
                try await workspace.dictionary("d").removeAll()
                #expect(try workspace.dictionary("d").keys.isEmpty)
                #expect(try workspace.dictionary("d")["a", as: Int.self] == nil)
                workspace = try await persistence.apply(to: workspace, home)
                #expect(try workspace.dictionary("d").keys.isEmpty)
                #expect(try workspace.dictionary("d").count == 0)
                try await workspace.dictionary("d").set(4, forKey: "after")
                workspace = try await persistence.apply(to: workspace, home)
                #expect(try workspace.dictionary("d").keys == ["after"])
                try await workspace.dictionary("d").removeAll()
            }
            #expect(try workspace.dictionary("other")["a", as: String.self] == "stays")
            try await workspace.close()
        }
    }
}
