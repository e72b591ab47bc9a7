import Roost
import RoostIO
import Synchronization

/// Histories of many callers, which are recorded and checked.
public struct Histories<Workspace: KeyValueWorkspace>: Sendable {
    let workspaces: [Workspace]
    /// Where the names of their dictionaries begin.
    let prefix: String
    let seed: UInt64

    /// - Parameters:
    ///   - workspaces: of the same records; callers take them in turn.
    ///   - prefix: where the names of their dictionaries begin: new for each.
    ///   - seed: for what is chosen by chance.
    public init(_ workspaces: [Workspace], prefix: String, seed: UInt64) {
        self.workspaces = workspaces
        self.prefix = prefix
        self.seed = seed
    }

    private func workspace(_ caller: Int) -> Workspace { workspaces[caller % workspaces.count] }

    // MARK: Lists

    /// Transactions that read lists and append to them.
    ///
    /// - Throws: `ConformanceFailure` where no order explains what they saw.
    public func lists(_ length: HistoryLength) async throws -> HistoryTally {
        let keys = (0..<5).map { "list\($0)" }
        let calls = try await record(length) { caller, number, chance in
            var call = ListCall(id: caller << 32 | number, invoked: .now)
            let lists = self.workspace(caller).dictionary("\(self.prefix)-lists")
            let chosen = keys.shuffled(using: &chance).prefix(1 + chance.below(3))
            let appended = Set(chosen.filter { _ in chance.below(3) > 0 })
            for key in appended { call.appends[key] = call.id }
            let (id, appends) = (call.id, call.appends)
            do {
                call.reads = try await self.workspace(caller).transaction { attempt in
                    var reads: [String: [Int]] = [:]
                    for key in chosen {
                        let list = try await attempt.load(key, as: [Int].self, in: lists) ?? []
                        reads[key] = list
                        if appends[key] != nil {
                            try attempt.set(list + [id], forKey: key, in: lists)
                        }
                    }
                    return reads
                }
                call.outcome = .committed
                call.returned = .now
            } catch {
                guard let outcome = outcome(of: error) else { throw error }
                call.outcome = outcome
                call.returned = outcome == .unknown ? nil : .now
            }
            return call
        }
        var final: [String: [Int]] = [:]
        let lists = workspaces[0].dictionary("\(prefix)-lists")
        for key in keys { final[key] = try await patiently { try await lists.load(key) ?? [] } }
        if let violation = ListChecker.violation(in: calls, final: final) {
            throw ConformanceFailure("lists: \(violation)")
        }
        return tally(calls.map(\.outcome))
    }

    // MARK: Registers

    /// Reads, writes and replacements of single keys, without transactions.
    ///
    /// - Throws: `ConformanceFailure` where no order explains what they saw.
    public func registers(_ length: HistoryLength) async throws -> HistoryTally {
        let keyCount = 4
        let outcomes = Mutex<[ListCall.Outcome]>([])
        var calls: [(key: Int, call: RegisterCall)] = try await record(length) {
            caller, number, chance in
            let key = chance.below(keyCount)
            let registers = self.workspace(caller).dictionary("\(self.prefix)-registers")
            let id = caller << 32 | number
            var call = RegisterCall(id: id, action: .read(nil), invoked: .now, returned: nil)
            do {
                switch chance.below(5) {
                case 0, 1: call.action = .read(try await registers.load("r\(key)", as: Int.self))
                case 2:
                    call.action = .write(id)
                    try await registers.set(id, forKey: "r\(key)")
                case 3 where chance.below(3) == 0:
                    call.action = .write(nil)
                    try await registers.removeValue(forKey: "r\(key)")
                default:
                    // The read before it is a call of its own, which the replacement's begin covers.
                    let entry = try await registers.loadEntry("r\(key)", as: Int.self)
                    call.action = .replace(entry.value, id)
                    try await registers.replace(entry, with: id)
                }
                call.returned = .now
                outcomes.withLock { $0.append(.committed) }
            } catch {
                guard let outcome = outcome(of: error) else { throw error }
                outcomes.withLock { $0.append(outcome) }
                // What changed nothing is no call on the register.
                if outcome == .refused { call.action = .read(nil) }
            }
            return (key, call)
        }
        // Of what nobody has read since.
        let registers = workspaces[0].dictionary("\(prefix)-registers")
        for key in 0..<keyCount {
            let begin = ContinuousClock.now
            let value = try await patiently { try await registers.load("r\(key)", as: Int.self) }
            let last = RegisterCall(id: -1, action: .read(value), invoked: begin, returned: .now)
            calls.append((key, last))
        }
        for key in 0..<keyCount {
            let all = calls.filter { $0.key == key }.map(\.call)
            if let violation = RegisterChecker.violation(in: all) {
                throw ConformanceFailure("register \(key): \(violation)")
            }
        }
        return tally(outcomes.withLock { $0 })
    }

    // MARK: The bank

    /// Transfers between accounts, and looks at all of them, whose sum stays.
    ///
    /// - Throws: `ConformanceFailure` where a look sees another sum.
    public func bank(_ length: HistoryLength) async throws -> HistoryTally {
        let accountCount = 8
        let names = (0..<accountCount).map { "a\($0)" }
        let first = workspaces[0].dictionary("\(prefix)-bank")
        try await patiently { try await first.setAll(names.map { ($0, 100) }) }
        let outcomes: [ListCall.Outcome] = try await record(length) { caller, _, chance in
            let accounts = self.workspace(caller).dictionary("\(self.prefix)-bank")
            let workspace = self.workspace(caller)
            let from = names[chance.below(accountCount)]
            let to = names[chance.below(accountCount)]
            let amount = 1 + chance.below(20)
            do {
                switch chance.below(4) {
                case 0:
                    let all = try await accounts.entries(as: Int.self).collected()
                    try requireEqual(
                        all.reduce(0) { $0 + $1.value }, accountCount * 100, "the sum of a scan")
                case 1:
                    let sum = try await workspace.transaction { attempt in
                        var sum = 0
                        for name in names {
                            sum += try await attempt.load(name, as: Int.self, in: accounts) ?? 0
                        }
                        return sum
                    }
                    try requireEqual(sum, accountCount * 100, "the sum in a transaction")
                default:
                    try await workspace.transaction { attempt in
                        let balance = try await attempt.load(from, as: Int.self, in: accounts) ?? 0
                        guard balance >= amount, from != to else { return }
                        let other = try await attempt.load(to, as: Int.self, in: accounts) ?? 0
                        try attempt.set(balance - amount, forKey: from, in: accounts)
                        try attempt.set(other + amount, forKey: to, in: accounts)
                    }
                }
                return .committed
            } catch {
                guard let outcome = outcome(of: error) else { throw error }
                return outcome
            }
        }
        let all = try await patiently { try await first.entries(as: Int.self).collected() }
        try requireEqual(all.reduce(0) { $0 + $1.value }, accountCount * 100, "the sum at the end")
        return tally(outcomes)
    }

    // MARK: Callers

    private func record<Element: Sendable>(
        _ length: HistoryLength,
        _ body: @escaping @Sendable (Int, Int, inout ChanceNumbers) async throws -> Element
    ) async throws -> [Element] {
        let seed = seed
        return try await withThrowingTaskGroup(of: [Element].self) { group in
            for caller in 0..<length.callerCount {
                group.addTask {
                    var chance = ChanceNumbers(seed &+ UInt64(caller) &* 7919)
                    var made: [Element] = []
                    while length.goesOn(made.count) {
                        made.append(try await body(caller, made.count, &chance))
                    }
                    return made
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func tally(_ outcomes: [ListCall.Outcome]) -> HistoryTally {
        outcomes.reduce(into: HistoryTally()) { tally, outcome in
            switch outcome {
            case .committed: tally.committed += 1
            case .refused: tally.refused += 1
            case .unknown: tally.unknown += 1
            }
        }
    }
}

extension ConformanceCheck {
    /// Histories without faults.
    static var historyChecks: [ConformanceCheck] {
        [
            ConformanceCheck("lists that are appended to are strictly serializable") {
                let tally = try await $0.histories.lists($0.historyLength)
                try requireMade(tally, refusedPercent: 100)
            },
            ConformanceCheck("registers are linearizable") {
                let tally = try await $0.histories.registers($0.historyLength)
                // Each third call is a replacement, of which others are often first.
                try requireMade(tally, refusedPercent: 100)
            },
            ConformanceCheck("the sum of a bank's accounts stays") {
                let tally = try await $0.histories.bank($0.historyLength)
                // Half of the calls write nothing, so that four are refused for each five others where no write is made.
                try requireMade(tally, refusedPercent: 50)
            },
        ]
    }

    /// What is refused shows nothing: a history is sound in any case where nobody has written. But a slow engine refuses calls
    /// too, as other writers are first until their deadlines.
    private static func requireMade(_ tally: HistoryTally, refusedPercent limit: Int) throws {
        try require(
            tally.refused * 100 <= tally.committed * limit, "\(tally), though nothing was broken")
    }
}

extension ConformanceContext {
    fileprivate var historyLength: HistoryLength { HistoryLength(callCount: 40 * effort) }

    fileprivate var histories: Histories<Workspace> {
        Histories(workspaces, prefix: prefix, seed: seed)
    }
}
