import Roost

/// What an app's values were in its first version.
nonisolated struct DraftV1: Codable, Equatable {
    var text: String
}

extension Client {
    static func checkMigrations(_ path: String) async throws {
        let first = try await Workspace.open(at: path)
        try await first.dictionary("notes").set(DraftV1(text: "a line"), forKey: "1")
        try await first.close()

        let workspace = try await Workspace.open(at: path)
        let notes = workspace.dictionary("notes")
            .migrating(from: DraftV1.self, to: Draft.self, version: 2) {
                Draft(title: $0.text, body: "")
            }
        try check(try notes["1", as: Draft.self]?.title == "a line", "it is converted")
        try await notes.update("1", as: Draft.self) { $0?.body = "more" }
        try await workspace.compact()
        try check(try notes["1", as: Draft.self]?.body == "more", "it is stored anew")
        try await workspace.close()

        // A program that does not know of version 2 is told, and harms nothing.
        let older = try await Workspace.open(at: path)
        let old = older.dictionary("notes")
        try await expect(.unsupportedVersion) { _ = try old["1", as: DraftV1.self] }
        try await old.removeAll()
        try await older.close()
    }
}
