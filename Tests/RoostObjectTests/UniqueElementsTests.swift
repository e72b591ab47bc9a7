import Roost
import RoostTestSupport
import Testing

/// An index over elements that are to be unique: no two objects have one in common.
@Suite("Elements that are to be unique") struct UniqueElementsTests {
    private struct Account: Codable, Identifiable, Equatable, Indexed {
        static var indexes: [Index<Account>] {
            [
                Index("mails", each: \.mails, isUnique: true),
                Index("weights", each: \.weights, isUnique: true),
                Index("names", each: \.names, isUnique: true, where: { $0.isOpen }),
            ]
        }
        var id: Int
        var mails: [String] = []
        var weights: [Double]?
        var names: Set<String> = []
        var isOpen = true
    }

    private func withAccounts(_ body: (Repository<Account>) async throws -> Void) async throws {
        let workspace = try await Workspace.inMemory()
        let accounts = workspace.repository(of: Account.self)
        try await accounts.saveAll([
            Account(id: 1, mails: ["a", "b"], weights: [1, .nan], names: ["ada"]),
            Account(id: 2, mails: ["c"], weights: [2, .nan], names: ["ada"], isOpen: false),
            Account(id: 3),
        ])
        try await body(accounts)
        for state in try accounts.indexStates() { #expect(state.faults.isEmpty, "\(state.name)") }
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }

    private func expectTaken(
        _ index: String, by holder: String, _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: RoostError.self) { try await body() }
        #expect(error?.code == .notUnique)
        let cause = error?.cause as? NotUnique
        #expect(cause?.index == index && cause?.otherKey == holder)
    }

    @Test("What another object's list has is refused by every call, and nothing is changed")
    func whatIsTakenIsRefused() async throws {
        try await withAccounts { accounts in
            let before = try accounts.all.fetch()
            let (one, two) = (accounts.key(of: 1), accounts.key(of: 2))
            await expectTaken("mails", by: one) {
                try await accounts.save(Account(id: 3, mails: ["x", "b"]))
            }
            await expectTaken("mails", by: one) {
                try await accounts.insert(Account(id: 4, mails: ["b"]))
            }
            await expectTaken("mails", by: one) {
                _ = try await accounts.update(2) { $0.mails.append("a") }
            }
            await expectTaken("weights", by: two) {
                try await accounts.saveAll([Account(id: 4), Account(id: 5, weights: [3, 2])])
            }
            await #expect(throws: RoostError.self) {
                try await accounts.saveAll([
                    Account(id: 4, mails: ["x"]), Account(id: 5, mails: ["y", "x"]),
                ])
            }
            await #expect(throws: RoostError.self) {
                _ = try await accounts.all.updateAll { $0.mails = ["same"] }
            }
            await expectTaken("names", by: one) {
                _ = try await accounts.update(2) { $0.isOpen = true }
            }
            await expectTaken("mails", by: one) {
                try await accounts.dictionary.workspace.transaction { transaction in
                    try transaction.save(Account(id: 9, mails: ["c2"]), in: accounts)
                    try transaction.save(Account(id: 3, mails: ["a"]), in: accounts)
                }
            }
            // By their text, as NaN is not equal to itself.
            let after = try accounts.all.fetch()
            #expect("\(after)" == "\(before)")
        }
    }

    @Test("An object may have an element twice and keep it, and what it gives up is free")
    func whatIsGivenUpIsFree() async throws {
        try await withAccounts { accounts in
            try await accounts.save(Account(id: 1, mails: ["b", "b", "d"]))
            try await accounts.save(Account(id: 3, mails: ["a"]))
            #expect(try accounts.where { $0.mails.contains("a") }.fetch().map(\.id) == [3])
            #expect(try accounts.where { $0.mails.contains("b") }.fetch().map(\.id) == [1])
            #expect(try accounts.where { $0.mails.contains("b") }.count() == 1)
            #expect(
                try accounts.where { $0.mails.contains("b") }.explain().description
                    .contains("\"mails\""))
            try await accounts.delete(1)
            try await accounts.save(Account(id: 3, mails: ["d", "b"]))
            #expect(try accounts.where { $0.mails.contains("a") }.isEmpty())
            // Composed and decomposed it is one text.
            try await accounts.save(Account(id: 4, mails: ["caf\u{e9}"]))
            await expectTaken("mails", by: accounts.key(of: 4)) {
                try await accounts.save(Account(id: 5, mails: ["cafe\u{301}"]))
            }
        }
    }

    @Test("Objects that one call changes may pass elements on")
    func elementsArePassedOn() async throws {
        try await withAccounts { accounts in
            try await accounts.saveAll([
                Account(id: 1, mails: ["c", "b"]), Account(id: 2, mails: ["a"]),
            ])
            #expect(try accounts.where { $0.mails.contains("c") }.fetch().map(\.id) == [1])
            #expect(try accounts.where { $0.mails.contains("a") }.fetch().map(\.id) == [2])
            let next = [1: ["a"], 2: ["b", "d"], 3: ["c"]]
            #expect(try await accounts.all.updateAll { $0.mails = next[$0.id] ?? [] } == 3)
            #expect(try accounts.where { $0.mails.contains("c") }.fetch().map(\.id) == [3])
            #expect(try accounts.where { $0.mails.contains("b") }.fetch().map(\.id) == [2])
            // One after the other they may not.
            await expectTaken("mails", by: accounts.key(of: 3)) {
                try await accounts.dictionary.workspace.transaction { transaction in
                    try transaction.save(Account(id: 1, mails: ["c"]), in: accounts)
                    try transaction.save(Account(id: 3), in: accounts)
                }
            }
        }
    }

    @Test("An element that is too long to be compared whole is refused")
    func longElementsAreRefused() async throws {
        try await withAccounts { accounts in
            let error = await #expect(throws: RoostError.self) {
                try await accounts.save(
                    Account(id: 4, mails: ["x", String(repeating: "long", count: 400)]))
            }
            #expect(error?.code == .valueTooLarge)
        }
    }

    private struct Plain: Codable, Identifiable {
        var id: Int
        var mails: [String] = []
        var names: Set<String> = []
        var isOpen = true
    }

    @Test("An index over objects that have an element in common already is not built, and says so")
    func whatIsThereTwiceIsTold() async throws {
        let workspace = try await Workspace.inMemory()
        let plain = workspace.repository(of: Plain.self, named: "Account")
        try await plain.saveAll([
            Plain(id: 1, mails: ["a", "b"]), Plain(id: 2, mails: ["c", "b"]),
        ])
        let accounts = workspace.repository(of: Account.self)
        let error = await #expect(throws: RoostError.self) { try await accounts.indexesBuilt() }
        #expect("\(error!)".contains("\"mails\""))
        #expect(try accounts.where { $0.mails.contains("b") }.fetch().map(\.id) == [1, 2])
        try await workspace.close()
    }
}
