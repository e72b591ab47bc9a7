import Roost
import RoostIO
import RoostShared

private struct Account: Codable, Equatable, Identifiable, Sendable, Indexed {
    var id: Int
    var owner: String
    var amount: Int

    static var indexes: [Index<Account>] {
        [Index("owner", \.owner, .descending(\.amount)), Index("amount", \.amount)]
    }
}

extension ConformanceCheck where Workspace == SharedWorkspace {
    /// What sums, groups, pages and keys of one type promise over an engine.
    static var aggregateChecks: [ConformanceCheck] {
        [
            ConformanceCheck(
                "sums and groups are of one revision, beside two clients who move what is added up"
            ) { context in
                let name = "\(context.prefix)-accounts"
                let one = context.workspaces[0].repository(of: Account.self, named: name)
                let two = context.workspaces[1].repository(of: Account.self, named: name)
                try await one.buildIndexes()
                try await one.saveAll(
                    (-12..<12).map { id in
                        Account(id: id, owner: ["ada", "bea", "cid"][(id + 12) % 3], amount: 100)
                    })
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, accounts) in [one, two].enumerated() {
                        group.addTask {
                            try await move(accounts, number, rounds: 10 * context.effort)
                        }
                    }
                    group.addTask { try await add(up: two, rounds: 5 * context.effort) }
                    try await group.waitForAll()
                }
                let amounts = try await one.loadAll().map(\.amount)
                try requireEqual(try await two.min(of: \.amount), amounts.min(), "the least")
                try requireEqual(try await one.max(of: \.amount), amounts.max(), "the most")
                try requireEqual(
                    try await one.distinct(\.amount), Set(amounts).sorted(), "the amounts")
                try requireEqual(
                    try await two.all.scanning().where { $0.id < 0 }.values(of: \.amount),
                    Array(amounts.prefix(12)), "the amounts of some")
            },
            ConformanceCheck("keys of one type come in their order, in pages and in ranges") {
                context in
                let numbers = context.workspaces[0].dictionary(
                    "\(context.prefix)-numbers", keys: Int.self)
                try await numbers.setAll((-40..<40).map { ($0 * 1000, $0) })
                for order in [ScanOrder.ascending, .descending] {
                    var found: [Int] = []
                    var last: Int?
                    while found.count < 200 {
                        let page = try await numbers.page(
                            after: last, as: Int.self, limit: 23, order: order)
                        guard let key = page.last?.key else { break }
                        found += page.map(\.value)
                        last = key
                    }
                    let all = Array(-40..<40)
                    try requireEqual(
                        found, order == .ascending ? all : all.reversed(), "the pages, \(order)")
                }
                var inRange: [Int] = []
                for try await key in numbers.keys(in: -3000...2500) { inRange.append(key) }
                try requireEqual(
                    inRange, [-3000, -2000, -1000, 0, 1000, 2000], "the keys in a range")
            },
        ]
    }

    /// Moves amounts between accounts, and some to another owner.
    private static func move(
        _ accounts: SharedRepository<Account>, _ number: Int, rounds: Int
    ) async throws {
        for round in 0..<rounds {
            let (from, to) = ((round * 7 + number) % 24 - 12, (round * 11 + 5) % 24 - 12)
            try await accounts.dictionary.workspace.transaction { tx in
                guard from != to, var giver = try await tx.find(from, in: accounts),
                    var taker = try await tx.find(to, in: accounts)
                else { return }
                giver.amount -= round + 1
                taker.amount += round + 1
                swap(&giver.owner, &taker.owner)
                try await tx.save(giver, in: accounts)
                try await tx.save(taker, in: accounts)
            }
        }
    }

    private static func add(
        up accounts: SharedRepository<Account>, rounds: Int
    ) async throws {
        for _ in 0..<rounds {
            try requireEqual(try await accounts.sum(of: \.amount), 2400, "the sum")
            try requireEqual(try await accounts.average(of: \.amount), 100, "the average")
            let groups = accounts.grouped(by: \.owner)
            try requireEqual(
                try await groups.sums(of: \.amount).values.reduce(0, +), 2400, "the owners' sums")
            try requireEqual(
                try await groups.counts(), ["ada": 8, "bea": 8, "cid": 8], "the owners' counts")
            let adas = accounts.where { $0.owner == "ada" }
            let (count, most) = try await accounts.dictionary.workspace.transaction { tx in
                let amounts = try await tx.values(of: \.amount, in: adas)
                let most = try await tx.max(of: \.amount, in: adas)
                return (amounts.count, most == amounts.max())
            }
            try requireEqual(count, 8, "ada's accounts")
            try requireEqual(most, true, "that the most is among ada's amounts")
        }
    }
}
