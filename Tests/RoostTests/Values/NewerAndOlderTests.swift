import Roost
import RoostTestSupport
import Testing

/// A client's type, and the same type in the version before, each reading what the other wrote.
@Suite struct NewerAndOlderTests {
    private struct Old: Codable, Equatable, Sendable {
        var name: String
        var age: Int
        /// Dropped later.
        var nickname: String?
    }

    private struct New: Codable, Equatable, Sendable {
        enum Plan: String, Codable { case free, paid }

        var age: Int
        var plan: Plan?
        var tags: [String]?
        var name: String
    }

    private struct Demanding: Codable, Equatable, Sendable {
        var name: String
        var email: String
    }

    private struct OldBinary: BinaryCodable, Equatable, Sendable {
        var name: String
        var age: Int

        init(name: String, age: Int) { (self.name, self.age) = (name, age) }
        init(from reader: inout BinaryReader) throws {
            name = try reader.field(1)
            age = try reader.field(2)
        }
        func encode(into writer: inout BinaryWriter) {
            writer.field(1, name)
            writer.field(2, age)
        }
    }

    private struct NewBinary: BinaryCodable, Equatable, Sendable {
        var name: String
        var tags: [String]
        var email: String?

        init(name: String, tags: [String], email: String?) {
            (self.name, self.tags, self.email) = (name, tags, email)
        }
        init(from reader: inout BinaryReader) throws {
            name = try reader.field(1)
            tags = try reader.field(3, default: [])
            email = try reader.field(4)
        }
        func encode(into writer: inout BinaryWriter) {
            writer.field(1, name)
            writer.field(3, tags)
            writer.field(4, email)
        }
    }

    private func reopened(
        _ coder: ValueCoder, _ write: (WorkspaceDictionary) async throws -> Void,
        _ read: (WorkspaceDictionary) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { path in
            let before = try await Workspace.open(at: path, configuration: .init(coder: coder))
            try await write(before.dictionary("users"))
            try await before.close()
            let after = try await Workspace.open(at: path)
            try read(after.dictionary("users"))
            try await after.close()
        }
    }

    @Test(arguments: [ValueCoder.roost, .json, .propertyList])
    func codableTypesReadOneAnothersBytes(coder: ValueCoder) async throws {
        let new = New(age: 36, plan: .paid, tags: ["a", "b"], name: "Ada")
        try await reopened(coder) { users in
            try await users.set(new, forKey: "new")
            try await users.set(Old(name: "Ada", age: 36, nickname: "A"), forKey: "old")
        } _: { (users) throws in
            #expect(try users["new", as: Old.self] == Old(name: "Ada", age: 36))
            #expect(
                try users["old", as: New.self] == New(age: 36, plan: nil, tags: nil, name: "Ada"))
            #expect(try users["new", as: New.self] == new)
            let error = #expect(throws: RoostError.self) { try users["old", as: Demanding.self] }
            #expect(error?.code == .decodingFailed)
        }
    }

    @Test func binaryTypesReadOneAnothersBytes() async throws {
        let new = NewBinary(name: "Ada", tags: ["a"], email: "a@b")
        try await reopened(.roost) { users in
            try await users.set(new, forKey: "new")
            try await users.set(OldBinary(name: "Ada", age: 36), forKey: "old")
        } _: { (users) throws in
            #expect(
                try users["old", as: NewBinary.self]
                    == NewBinary(name: "Ada", tags: [], email: nil))
            #expect(try users["new", as: NewBinary.self] == new)
            // The older client needs a field that the newer one dropped.
            let error = #expect(throws: RoostError.self) { try users["new", as: OldBinary.self] }
            #expect(error?.code == .decodingFailed)
        }
    }
}
