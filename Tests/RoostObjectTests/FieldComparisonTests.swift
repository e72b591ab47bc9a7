import Roost
import RoostTestSupport
import Synchronization
import Testing

/// Conditions that compare two fields of one object. That they say what Swift says is among the oracle's cases.
@Suite struct FieldComparisonTests {
    private struct Budget: Codable, Identifiable, Sendable, Equatable, StoredFields {
        /// Of those from this identifier on: other tests make some at the same time.
        static let firstCounted = 1_000
        static let madeCount = Mutex(0)
        var id: Int
        var name: String
        var granted: Int
        var spent: Int
        var reserve: Int?

        init(_ id: Int, granted: Int, spent: Int, reserve: Int? = nil) {
            (self.id, name) = (id, "budget \(id)")
            (self.granted, self.spent, self.reserve) = (granted, spent, reserve)
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            name = try values.decode(String.self, forKey: .name)
            granted = try values.decode(Int.self, forKey: .granted)
            spent = try values.decode(Int.self, forKey: .spent)
            reserve = try values.decodeIfPresent(Int.self, forKey: .reserve)
            if id >= Self.firstCounted { Self.madeCount.withLock { $0 += 1 } }
        }

        static var storedFields: [StoredField<Budget>] {
            [
                StoredField(\.granted, CodingKeys.granted), StoredField(\.spent, CodingKeys.spent),
                StoredField(\.reserve, CodingKeys.reserve),
            ]
        }
    }

    private struct Job: BinaryCodable, Identifiable, Sendable, Equatable, StoredFields {
        static let madeCount = Mutex(0)
        var id: Int
        var tries: Int
        var limit: Int

        init(_ id: Int, tries: Int, limit: Int) {
            (self.id, self.tries, self.limit) = (id, tries, limit)
        }

        static var binaryShape: BinaryShape { .message }

        func encode(into writer: inout BinaryWriter) {
            writer.field(1, id)
            writer.field(2, tries)
            writer.field(3, limit)
        }

        init(from reader: inout BinaryReader) throws {
            id = try reader.field(1)
            tries = try reader.field(2)
            limit = try reader.field(3)
            Self.madeCount.withLock { $0 += 1 }
        }

        static var storedFields: [StoredField<Job>] {
            [StoredField(\.tries) { try $0.field(2) }, StoredField(\.limit) { try $0.field(3) }]
        }
    }

    /// Many objects have the same value in one of the fields: what is remembered of it must not stand for both.
    @Test func onlyObjectsThatMatchAreMade() async throws {
        let workspace = try await Workspace.inMemory()
        let budgets = workspace.repository(of: Budget.self)
        let all = (0..<400).map { number in
            Budget(
                Budget.firstCounted + number, granted: number % 5, spent: number % 7,
                reserve: number % 3 == 0 ? nil : number % 4)
        }
        try await budgets.saveAll(all)
        let before = Budget.madeCount.withLock { $0 }
        let spent = try budgets.where { $0.spent > $0.granted }.fetch()
        #expect(spent == all.filter { $0.spent > $0.granted })
        let reserved = try budgets.where { $0.reserve >= $0.spent }.fetch()
        #expect(reserved == all.filter { one in one.reserve.map { $0 >= one.spent } ?? false })
        #expect(Budget.madeCount.withLock { $0 } == before + spent.count + reserved.count)

        let jobs = workspace.repository(of: Job.self)
        let allJobs = (0..<400).map { Job($0, tries: $0 % 5, limit: $0 % 7) }
        try await jobs.saveAll(allJobs)
        let jobsBefore = Job.madeCount.withLock { $0 }
        let spentJobs = try jobs.where { $0.tries == $0.limit }.fetch()
        #expect(spentJobs == allJobs.filter { $0.tries == $0.limit })
        #expect(Job.madeCount.withLock { $0 } == jobsBefore + spentJobs.count)
        try await workspace.close()
    }

    @Test func explainNamesBothFields() async throws {
        let workspace = try await Workspace.inMemory()
        let budgets = workspace.repository(of: Budget.self)
        let text = try budgets.where { $0.spent > $0.granted && $0.id >= 3 }.explain()
        #expect(text.contains("spent > granted"), "\(text)")
        try await workspace.close()
    }

    @Test func aLiveResultFollowsEitherField() async throws {
        let workspace = try await Workspace.inMemory()
        let budgets = workspace.repository(of: Budget.self)
        try await budgets.saveAll((0..<4).map { Budget($0, granted: 5, spent: $0) })
        var updates = budgets.where { $0.spent > $0.granted }.updates().makeAsyncIterator()
        #expect(await updates.next()?.map(\.id) == [])
        try await budgets.update(1) { $0.granted = 0 }
        #expect(await updates.next()?.map(\.id) == [1])
        try await budgets.update(2) { $0.spent = 6 }
        #expect(await updates.next()?.map(\.id) == [1, 2])
        try await budgets.update(1) { $0.granted = 1 }
        #expect(await updates.next()?.map(\.id) == [2])
        try await workspace.close()
    }
}
