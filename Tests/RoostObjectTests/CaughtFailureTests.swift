import Roost
import Testing

/// What fails in a transaction's body and is caught there leaves nothing behind.
@Suite("Failures that a transaction goes on from") struct CaughtFailureTests {
    private struct Member: Codable, Identifiable, Equatable, Indexed {
        static var indexes: [Index<Member>] {
            [Index("rank", \.rank), Index("mail", \.mail, isUnique: true)]
        }
        var id: Int
        var rank: Int
        var mail: String
    }
    private struct Refused: Error {}

    @Test("An updateAll that meets a taken value, or whose closure throws, changes no object")
    func updateAllIsTakenBack() async throws {
        let workspace = try await Workspace.inMemory()
        let members = workspace.repository(of: Member.self)
        let notes = workspace.dictionary("notes")
        let before = (0..<10).map { Member(id: $0, rank: $0, mail: "m\($0)") }
        try await members.saveAll(before)
        try await workspace.transaction { transaction in
            try transaction.set("before", forKey: "a", in: notes)
            try transaction.update(1, in: members) { $0.rank = 100 }
            let left = try transaction.fetch(members.all)
            #expect(throws: RoostError.self) {
                try transaction.updateAll(members.where { $0.rank > 4 }) {
                    $0.mail = "one for all"
                    $0.rank = -1
                }
            }
            #expect(try transaction.fetch(members.all) == left)
            #expect(try transaction.count(of: members.where { $0.rank == -1 }) == 0)
            #expect(throws: Refused.self) {
                try transaction.updateAll(members.all) {
                    $0.mail += "!"
                    if $0.id == 7 { throw Refused() }
                }
            }
            #expect(try transaction.fetch(members.all) == left)
            // The values are not taken.
            try transaction.insert(Member(id: 50, rank: 1, mail: "one for all"), in: members)
            try transaction.insert(Member(id: 51, rank: 1, mail: "m3!"), in: members)
            try transaction.set("after", forKey: "b", in: notes)
        }
        #expect(try members.where { $0.rank > 99 }.fetch().map(\.id) == [1])
        #expect(try members.where { $0.rank == -1 }.isEmpty())
        #expect(try members.where { $0.mail.hasSuffix("!") }.fetch().map(\.id) == [51])
        #expect(try members.count == 12)
        #expect(try notes.count == 2)
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }
}
