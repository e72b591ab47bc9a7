import Roost

nonisolated struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var title: String
}

extension Client {
    static func checkWatching(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let settings = workspace.dictionary("watched")
        let changes = settings.changes(prefix: "ui/", as: String.self)
        settings.enqueue("light", forKey: "ui/theme")
        try check(try settings["ui/theme", as: String.self] == "light", "visible at once")
        try await settings.set("other", forKey: "not watched")
        try await settings.removeValue(forKey: "ui/theme", durability: .synced)
        var seen: UInt64 = 0
        changing: for await change in changes {
            switch change {
            case .set(let key, let value, let version):
                try check(key == "ui/theme" && value == "light", "the set comes first")
                seen = version
            case .removed(let key, let version):
                try check(key == "ui/theme" && version > seen, "then the removal")
                break changing
            case .removedAll, .unreadable, .missed: try check(false, "\(change)")
            }
        }
        for await change in settings.changes(as: String.self, since: seen) {
            try check(change.version ?? 0 > seen, "what came since")
            break
        }
        let subscription = settings.subscribe("volume", of: Double.self) { event in
            if case .initial(let value) = event { print("volume \(value ?? 0)") }
        }
        for await value in settings.updates(of: "volume", as: Double.self) {
            if value == nil { settings.enqueue(0.5, forKey: "volume") } else { break }
        }
        subscription.cancel()
        try settings.enqueue(0.6, forKey: "volume").get()
        settings.enqueueRemoval(forKey: "volume")
        try await workspace.synchronize()
        try await checkRepositories(workspace)
        try await workspace.close()
    }

    private static func checkRepositories(_ workspace: Workspace) async throws {
        let notes = workspace.repository(of: Note.self)
        let list = ObservedRepository(notes)
        try await notes.save(Note(id: "p1", title: "first"))
        try await notes.saveAll([Note(id: "p2", title: "second"), Note(id: "p3", title: "third")])
        try await notes.delete("p3")
        let found = try await notes.find(by: "p1")
        let all = try await notes.loadAll()
        let count = try notes.count
        try check(found?.title == "first" && all.map(\.id) == ["p1", "p2"] && count == 2, "stored")
        while list.items != all { await Task.yield() }
        list.add(Note(id: "p0", title: "new"))
        list.remove("p2")
        try check(list.items.map(\.id) == ["p0", "p1"], "shown at once")
        try check(try await notes.find(by: "p0") != nil, "and stored")
    }
}
