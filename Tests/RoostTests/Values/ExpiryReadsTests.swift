import Foundation
import Roost
import RoostTestSupport
import Testing

/// Values that expire, seen through scans, views, transactions and entries.
@Suite struct ExpiryReadsTests {
    private let time = SettableTime()

    private func open() async throws -> Workspace {
        try await .inMemory(configuration: .init(shardCount: 4, clock: .settable(time)))
    }

    @Test(arguments: [false, true])
    func scansPassOverWhatHasExpiredEvenWhileTheyRun(isCold: Bool) async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        for number in 0..<600 {
            let key = "key-\(1000 + number)"
            if number % 3 == 0 {
                try await values.set(
                    number, forKey: key, expiresIn: .seconds(number < 300 ? 10 : 20))
            } else {
                try await values.set(number, forKey: key)
            }
        }
        if isCold { try await workspace.compact() }
        #expect(try values.count == 600)
        time.advance(by: .seconds(10))
        #expect(try values.count == 500)
        var seen: [Int] = []
        for try await (_, value) in values.entries(as: Int.self) {
            seen.append(value)
            // What the scan holds ready is gone too.
            if value == 301 { time.advance(by: .seconds(10)) }
        }
        #expect(seen == (0..<600).filter { $0 % 3 != 0 || $0 == 300 })
        var keyCount = 0
        for try await _ in values.keys(prefix: "key", order: .descending) { keyCount += 1 }
        #expect(keyCount == 400)
        #expect(try workspace.dictionaryNames == ["values"])
        try await workspace.close()
    }

    @Test func aReadViewLosesAValueWhenItsTimeComes() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set("cold", forKey: "cold", expiresIn: .seconds(10))
        try await workspace.compact()
        try await values.set("hot", forKey: "hot", expiresIn: .seconds(10))
        try await values.set(.dark, for: .theme)
        try workspace.read { (view) throws in
            #expect(try view.value(forKey: "cold", as: String.self, in: values) == "cold")
            #expect(try view.value(forKey: "hot", as: String.self, in: values) == "hot")
            #expect(try view.value(for: .theme, in: values) == .dark)
            #expect(try view.count(of: values) == 3)
            time.advance(by: .seconds(10))
            #expect(try view.value(forKey: "cold", as: String.self, in: values) == nil)
            #expect(try view.value(forKey: "hot", as: String.self, in: values) == nil)
            #expect(try !view.contains("hot", in: values))
            #expect(try view.keys(of: values) == ["ui.theme"])
            #expect(try view.count(of: values) == 1)
        }
        try await workspace.close()
    }

    @Test(arguments: [false, true])
    func anEntryIsOverWhenItsValueExpires(isCold: Bool) async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n", expiresIn: .seconds(10))
        if isCold { try await workspace.compact() }
        let entry = try values.entry(forKey: "n", as: Int.self)
        #expect(entry.value == 1)
        time.advance(by: .seconds(10))
        let error = await #expect(throws: RoostError.self) {
            try await values.replace(entry, with: 2)
        }
        #expect(error?.code == .conflict)
        let absent = try values.entry(forKey: "n", as: Int.self)
        #expect(absent.value == nil)
        #expect(absent.version == 0)
        try await values.replace(absent, with: 3)
        #expect(try values["n", as: Int.self] == 3)
        #expect(try values.remainingTime(forKey: "n") == nil)
        try await workspace.close()
    }

    @Test func anUpdateBeginsAnewBehindAnExpiredValueAndItsResultStays() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set(5, for: .launches, expiresIn: .seconds(10))
        let updated = try await values.update(.launches) { value in
            value += 1
            return value
        }
        #expect(updated == 6)
        time.advance(by: .seconds(10))
        #expect(try values[.launches] == 6)
        try await values.set(5, for: .launches, expiresIn: .seconds(10))
        time.advance(by: .seconds(10))
        try await values.update(.launches) { $0 += 1 }
        #expect(try values[.launches] == 1)
        try await workspace.close()
    }

    @Test(arguments: ["get", "contains", "count", "keys"])
    func aTransactionRunsAgainWhereWhatItReadHasExpired(read: String) async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        let log = workspace.dictionary("log")
        try await values.set("secret", forKey: "token", expiresIn: .seconds(10))
        var runs = 0
        let isThere = try await workspace.transaction { (tx) throws in
            runs += 1
            let isThere =
                switch read {
                case "get": try tx.value(forKey: "token", as: String.self, in: values) != nil
                case "contains": try tx.contains("token", in: values)
                case "count": try tx.count(of: values) == 1
                default: try tx.keys(of: values) == ["token"]
                }
            // The token expires before the first attempt commits.
            if runs == 1 { time.advance(by: .seconds(10)) }
            try tx.set(isThere, forKey: "granted", in: log)
            return isThere
        }
        #expect(!isThere)
        #expect(runs == 2)
        #expect(try log["granted", as: Bool.self] == false)
        try await workspace.close()
    }

    @Test func aTransactionSetsValuesThatExpireAndSeesItsOwn() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await workspace.transaction { (tx) throws in
            try tx.set("x", forKey: "token", in: values, expiresIn: .seconds(10))
            try tx.set(.dark, for: .theme, in: values)
            try tx.set("gone", forKey: "over", in: values, expiresIn: .zero)
            #expect(try tx.value(forKey: "token", as: String.self, in: values) == "x")
            #expect(try tx.value(for: .theme, in: values) == .dark)
            #expect(try tx.value(for: .nickname, in: values) == nil)
            #expect(try tx.value(forKey: "over", as: String.self, in: values) == nil)
            #expect(try tx.count(of: values) == 2)
        }
        #expect(try values.remainingTime(forKey: "token") == .seconds(10))
        time.advance(by: .seconds(10))
        #expect(try values.keys == ["ui.theme"])
        try await workspace.close()
    }
}

extension ExpiryReadsTests {
    @Test func aWatcherIsNotShownAValueThatHasExpired() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set("old", forKey: "token", expiresIn: .seconds(10))
        var updates = values.updates(of: "token", as: String.self).makeAsyncIterator()
        var changes = values.changes(forKey: "token", as: String.self).makeAsyncIterator()
        #expect(await updates.next() == "old")
        try await values.set("new", forKey: "token", expiresIn: .seconds(20))
        #expect(await updates.next() == "new")
        let late = values.updates(of: "token", as: String.self)
        time.advance(by: .seconds(20))
        guard case .removed(key: "token", _)? = await changes.next() else {
            Issue.record("an expired value was told as set")
            return
        }
        var begun = late.makeAsyncIterator()
        #expect(await begun.next() == .some(nil))
        try await workspace.close()
    }

    @Test func anEnqueuedPlainWriteMakesAValueStay() async throws {
        let workspace = try await open()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n", expiresIn: .seconds(10))
        values.enqueue(2, forKey: "n")
        #expect(try values.remainingTime(forKey: "n") == nil)
        time.advance(by: .seconds(10))
        try await workspace.synchronize()
        #expect(try values["n", as: Int.self] == 2)
        try await workspace.close()
    }
}
