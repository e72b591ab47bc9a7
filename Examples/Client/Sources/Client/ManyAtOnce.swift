import Roost

extension Client {
    static func checkManyAtOnce(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let users = workspace.dictionary("users")
        try await users.setAll([("ada", User(name: "Ada", age: 36))])
        try await users.setAll(["grace": User(name: "Grace", age: 85)])
        let drafts = workspace.dictionary("drafts")
        try await drafts.setAll(
            (0..<100).lazy.map { ("\($0)", Draft(title: "\($0)", body: "")) },
            durability: .synced)
        try check(try drafts.count == 100, "all are there")

        let id = "alan"
        let old = "ada"
        let user = User(name: "Alan", age: 41)
        try await workspace.write { batch in
            batch.set(user, forKey: id, in: users)
            batch.removeValue(forKey: old, in: users)
        }
        try check(try users.keys == ["alan", "grace"], "both changes are there")
        let count = try await workspace.write(durability: .process) { batch in
            batch.removeAll(in: drafts)
            batch.set(Draft(title: "only", body: ""), forKey: "one", in: drafts)
            return batch.count
        }
        try check(count == 2, "the body's result is returned")
        try check(try drafts.keys == ["one"], "what the batch sets stays")

        struct Stop: Error {}
        do {
            try await workspace.write { batch in
                batch.removeAll(in: users)
                throw Stop()
            }
            try check(false, "the body's error is thrown")
        } catch is Stop {}
        try check(try users.count == 2, "a body that throws changes nothing")
        try await expect(.encodingFailed) {
            try await workspace.write { batch in
                batch.removeAll(in: users)
                batch.set(Unencodable(), forKey: "x", in: users)
            }
        }
        try check(try users.count == 2, "a value that does not encode changes nothing")
        try await workspace.close()
    }
}
