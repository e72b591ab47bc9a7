import Roost

extension Client {
    /// What is consistent over several keys: transactions, versions, views, scans.
    static func checkConsistency(_ path: String) async throws {
        struct OutOfStock: Error {}
        let workspace = try await Workspace.open(at: path)
        let inventory = workspace.dictionary("inventory")
        let sku = "sku-1"
        try await inventory.set(1, forKey: sku)
        func sell() async throws -> Int {
            try await workspace.transaction { tx in
                let stock = try tx.value(forKey: sku, as: Int.self, in: inventory) ?? 0
                guard stock > 0 else { throw OutOfStock() }
                try tx.set(stock - 1, forKey: sku, in: inventory)
                return stock - 1
            }
        }
        try check(try await sell() == 0, "the transaction's result is returned")
        do {
            _ = try await sell()
            try check(false, "the body's error is thrown")
        } catch is OutOfStock {}

        let drafts = workspace.dictionary("more drafts")
        try await drafts.set(Draft(title: "first", body: ""), forKey: "draft")
        let entry = try drafts.entry(forKey: "draft", as: Draft.self)
        let edited = Draft(title: "second", body: "")
        let next = try await drafts.replace(entry, with: edited)
        try check(next.version > entry.version, "versions grow")
        try await expect(.conflict) { try await drafts.replace(entry, with: edited) }
        try await expect(.conflict) { try await drafts.remove(entry) }
        let length = try await drafts.update("draft", default: edited) { draft in
            draft.title += "!"
            return draft.title.count
        }
        try check(length == 7, "the update's result is returned")
        try await drafts.update("draft", as: Draft.self) { $0 = nil }
        try check(try !drafts.contains("draft"), "an update may remove")

        let people = workspace.dictionary("people")
        try await people.setAll(
            ["eu/ada", "eu/alan", "us/grace"].map { ($0, User(name: $0, age: 1)) })
        let (has, count) = try workspace.read { view in
            (try view.contains("eu/ada", in: people), try view.count(of: people))
        }
        try check(has && count == 3, "a view reads")
        let view = try workspace.readView()
        try await people.removeAll()
        try check(
            try view.keys(of: people, prefix: "eu/") == ["eu/ada", "eu/alan"], "a view stays")
        var found: [String] = []
        for try await (key, user) in try view.entries(of: people, as: User.self, limit: 2) {
            try check(key == user.name, "an entry has its value")
            found.append(key)
        }
        try check(found == ["eu/ada", "eu/alan"], "entries come in order")
        view.close()
        try await people.setAll(["a", "m", "n", "z"].map { ($0, User(name: $0, age: 1)) })
        found = []
        for try await key in people.keys(in: "a"..<"n", order: .descending) { found.append(key) }
        try check(found == ["m", "a"], "keys come in descending order")
        for try await (_, user) in people.entries(prefix: "z", as: User.self, limit: 100) {
            found.append(user.name)
        }
        try check(found == ["m", "a", "z"], "a prefix selects")
        try await workspace.close()
    }
}
