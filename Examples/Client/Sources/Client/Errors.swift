import Roost

extension Client {
    static func checkErrors(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let values = workspace.dictionary("errors")
        try await values.set(1, forKey: "integer")
        try await values.set(User(name: "Ada", age: 36), forKey: "user")
        try await expect(.typeMismatch) { _ = try values["integer", as: String.self] }
        try await expect(.typeMismatch) { _ = try values["integer", as: Draft.self] }
        try await expect(.typeMismatch) { _ = try values["user", as: Int.self] }
        try check(try values["integer", as: Int.self] == 1, "the bytes stay")
        try await expect(.encodingFailed) { try await values.set(Unencodable(), forKey: "x") }
        let longKey = String(repeating: "k", count: 65_537)
        try await expect(.keyTooLarge) { try await values.set(1, forKey: longKey) }
        try await values.set(1, forKey: String(longKey.dropLast()))
        try await expect(.keyTooLarge) {
            try await workspace.dictionary(String(repeating: "d", count: 256)).set(1, forKey: "")
        }
        try check(try values.count == 3, "what fails changes nothing")
        try await workspace.close()

        do { _ = try await Workspace.open(at: "\(path)/MANIFEST") } catch let error as RoostError {
            try check(error.code == .io, "a file is no directory")
            try check(error.file == "\(path)/MANIFEST", "the error names the file")
            try check(!error.message.isEmpty && !"\(error)".isEmpty, "the error says something")
        }
    }
}
