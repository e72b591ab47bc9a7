import Roost
import Testing

/// Objects that are inserted and deleted by many: all of them or none.
@Suite struct ManyObjectsTests {
    private struct Member: Codable, Identifiable, Equatable, Indexed, Sendable {
        static var indexes: [Index<Member>] {
            [Index("rank", \.rank), Index("mail", \.mail, isUnique: true)]
        }
        var id: Int
        var rank = 0
        var mail = ""
    }
    private struct Plain: Codable, Identifiable, Equatable, Sendable { var id: Int }

    @Test func manyAreInsertedOrNone() async throws {
        let workspace = try await Workspace.inMemory()
        let members = workspace.repository(of: Member.self)
        try await members.insertAll((0..<5).map { Member(id: $0, rank: $0, mail: "m\($0)") })
        let refused: [(RoostError.Code, [Member])] = [
            (.alreadyExists, [Member(id: 9, mail: "m9"), Member(id: 3, mail: "x")]),
            (.alreadyExists, [Member(id: 9, mail: "m9"), Member(id: 9, mail: "y")]),
            (.notUnique, [Member(id: 9, mail: "m9"), Member(id: 10, mail: "m1")]),
            (.notUnique, [Member(id: 9, mail: "m9"), Member(id: 10, mail: "m9")]),
        ]
        for (code, many) in refused {
            let error = await #expect(throws: RoostError.self) { try await members.insertAll(many) }
            #expect(error?.code == code)
        }
        #expect(try members.count == 5 && members.where { $0.mail == "m9" }.isEmpty())
        try await workspace.transaction { tx in
            #expect(throws: RoostError.self) { try tx.insertAll(refused[0].1, in: members) }
            try tx.insertAll([Member(id: 9, mail: "m9")], in: members)
        }
        #expect(try members.count == 6)
        #expect(try await workspace.verify().isSound)
    }

    @Test func manyAreDeletedByTheirIdentifiers() async throws {
        let workspace = try await Workspace.inMemory()
        let members = workspace.repository(of: Member.self)
        let plain = workspace.repository(of: Plain.self)
        try await members.saveAll((0..<10).map { Member(id: $0, rank: $0 % 2, mail: "m\($0)") })
        try await plain.insertAll((0..<10).map { Plain(id: $0) })
        #expect(try await members.deleteAll(ids: [1, 2, 99, 1]) == 2)
        #expect(try await plain.deleteAll(ids: [1, 2, 99, 1]) == 2)
        #expect(try plain.fetch().map(\.id) == [0] + Array(3..<10))
        #expect(try members.where { $0.rank == 1 }.fetch().map(\.id) == [3, 5, 7, 9])
        let count = try await workspace.transaction { tx in
            try tx.deleteAll(ids: [3], in: members) + tx.deleteAll(ids: [3, 4], in: plain)
        }
        #expect(count == 3)
        // Their values are free.
        try await members.insertAll([Member(id: 20, mail: "m1"), Member(id: 21, mail: "m3")])
        #expect(try await workspace.verify().isSound)
    }
}
