import Roost
import RoostShared
import Testing

/// An index over elements of shared objects that are to be unique: no two objects have one in common.
@Suite struct SharedUniqueElementsTests {
    private struct Account: Codable, Identifiable, Equatable, Sendable, Indexed {
        static var indexes: [Index<Account>] { [Index("mails", each: \.mails, isUnique: true)] }
        var id: Int
        var mails: [String] = []
    }

    private func accounts() async throws -> SharedRepository<Account> {
        let workspace = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine()), namespace: "test")
        let accounts = workspace.repository(of: Account.self)
        try await accounts.buildIndexes()
        try await accounts.saveAll([
            Account(id: 1, mails: ["a", "b", "b"]), Account(id: 2, mails: ["c"]),
        ])
        return accounts
    }

    private func expectTaken(_ body: () async throws -> Void) async {
        let error = await #expect(throws: RoostError.self) { try await body() }
        #expect(error?.code == .notUnique)
        #expect((error?.cause as? NotUnique)?.index == "mails")
    }

    @Test func whatAnotherListHasIsRefused() async throws {
        let accounts = try await accounts()
        await expectTaken { try await accounts.save(Account(id: 3, mails: ["x", "b"])) }
        await expectTaken { try await accounts.insert(Account(id: 3, mails: ["c"])) }
        await expectTaken { try await accounts.update(2) { $0?.mails.append("a") } }
        await expectTaken {
            try await accounts.saveAll([
                Account(id: 4, mails: ["x"]), Account(id: 5, mails: ["x"]),
            ])
        }
        #expect(try await accounts.count == 2)
    }

    @Test func whatIsGivenUpIsFreeAndMayBePassedOn() async throws {
        let accounts = try await accounts()
        try await accounts.save(Account(id: 1, mails: ["b"]))
        try await accounts.save(Account(id: 3, mails: ["a"]))
        try await accounts.saveAll([
            Account(id: 1, mails: ["a"]), Account(id: 2, mails: ["b"]),
            Account(id: 3, mails: ["c"]),
        ])
        for (mail, id) in [("a", 1), ("b", 2), ("c", 3)] {
            #expect(
                try await accounts.where { $0.mails.contains(mail) }.fetch().map(\.id) == [id])
        }
        #expect(try await accounts.where { $0.mails.contains("a") }.count() == 1)
    }
}
