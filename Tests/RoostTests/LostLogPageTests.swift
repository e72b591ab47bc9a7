import Foundation
import Roost
import RoostTestSupport
import Testing

/// Zeros stand where a page of the log was that cannot be read. A key that stood there is no key's any more, so a look
/// that does not ask whether all could be read goes on to what is older, or finds nothing.
@Suite(.timeLimit(.minutes(5))) struct LostLogPageTests {
    private static let keyCount = 300
    private struct Stop: Error {}

    private static func value(_ number: Int) -> String {
        String(repeating: "\(number) ", count: 200)
    }

    private static var expected: [String: String] {
        .init(uniqueKeysWithValues: (0..<keyCount).map { ("\($0)", value($0)) })
    }

    /// Half of the newest values of the dictionary `values` are gone; each key has an older one in a snapshot. `before` is
    /// called before the log is cut.
    private func withCutLog(
        before: (Workspace) async throws -> Void = { _ in },
        _ body: (Workspace) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 2, memoryBudgetBytes: 0))
            let values = workspace.dictionary("values")
            for number in 0..<Self.keyCount { try await values.set("old", forKey: "\(number)") }
            try await workspace.compact()
            for number in 0..<Self.keyCount {
                try await values.set(Self.value(number), forKey: "\(number)")
            }
            try await before(workspace)
            let name = try #require(try fileNames(in: path, prefix: "log").last)
            // A cut within a page clears the rest of it, as a write of zeros does.
            try #require(truncate("\(path)/\(name)", off_t(24 * 4096)) == 0)
            try await body(workspace)
            do { try await workspace.close() } catch is RoostError {}
        }
    }

    private func expectUnreadable(_ what: String, _ look: () async throws -> Any) async {
        do {
            let found = try await look()
            Issue.record("\(what) found \(found)")
        } catch let error as RoostError {
            #expect(error.code == .io, "\(what): \(error)")
            #expect(error.file != nil && error.offset != nil, "\(what): \(error)")
        } catch { Issue.record("\(what): \(error)") }
    }

    /// `look` gives the value of a key; how many keys could not be read.
    private func expectEach(
        _ what: String, _ look: (_ key: String) async throws -> String?
    ) async throws {
        var errorCount = 0
        for number in 0..<Self.keyCount {
            do {
                let found = try await look("\(number)")
                #expect(found == Self.value(number), "\(what) of \(number)")
            } catch let error as RoostError {
                #expect(error.code == .io, "\(what): \(error)")
                #expect(error.file != nil && error.offset != nil)
                errorCount += 1
            }
        }
        #expect(errorCount > 50 && errorCount < Self.keyCount, "\(what): \(errorCount)")
    }

    @Test func aScanEndsWithAnError() async throws {
        try await withCutLog { workspace in
            let values = workspace.dictionary("values")
            await expectUnreadable("keys") { try values.keys }
            await expectUnreadable("count") { try values.count }
            await expectUnreadable("a page") {
                try values.page(as: String.self, limit: 1000)
            }
            await expectUnreadable("forEachEntry") {
                try workspace.read { view in
                    var count = 0
                    try view.forEachEntry(of: values, as: String.self) { _, _ in count += 1 }
                    return count
                }
            }
            await expectUnreadable("forEachBytes") {
                try workspace.read { view in
                    var count = 0
                    try view.forEachBytes(of: values) { _, _ in count += 1 }
                    return count
                }
            }
            await expectUnreadable("entries") {
                var count = 0
                for try await _ in values.entries(as: String.self) { count += 1 }
                return count
            }
            await expectUnreadable("a transaction's keys") {
                try await workspace.transaction { try $0.keys(of: values).count }
            }
            await expectUnreadable("a transaction's count") {
                try await workspace.transaction { try $0.count(of: values) }
            }
        }
    }

    /// What was put in order before a page was lost says where its keys are, and no longer what they are.
    @Test func aScanBehindOneThatSawAllEndsWithAnErrorToo() async throws {
        try await withCutLog(before: { workspace in
            let values = workspace.dictionary("values")
            let keyCount = try values.keys.count
            #expect(keyCount == Self.keyCount)
            let entryCount = try values.page(as: String.self, limit: 1000).count
            #expect(entryCount == Self.keyCount)
        }) { workspace in
            let values = workspace.dictionary("values")
            await expectUnreadable("keys") { try values.keys }
            await expectUnreadable("a page") { try values.page(as: String.self, limit: 1000) }
            await expectUnreadable("count") { try values.count }
            await expectUnreadable("entries") {
                var count = 0
                for try await _ in values.entries(as: String.self) { count += 1 }
                return count
            }
        }
    }

    @Test func aLookAtOneKeyFindsItsNewestValueOrAnError() async throws {
        try await withCutLog { workspace in
            let values = workspace.dictionary("values")
            try await expectEach("an entry") { try values.entry(forKey: $0, as: String.self).value }
            try await expectEach("a view's value") { key in
                try workspace.read { try $0.value(forKey: key, as: String.self, in: values) }
            }
            try await expectEach("a transaction's value") { key in
                try await workspace.transaction {
                    try $0.value(forKey: key, as: String.self, in: values)
                }
            }
            try await expectEach("an update") { key in
                var found: String?
                do {
                    try await values.update(key, as: String.self) { value in
                        found = value
                        throw Stop()
                    }
                } catch is Stop {}
                return found
            }
        }
    }

    /// The shards go on; only the view still has the tables that a flush has taken from them.
    @Test func aViewOfAFlushedLogFindsTheNewestValueOrAnError() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 2, memoryBudgetBytes: 0))
            let values = workspace.dictionary("values")
            for number in 0..<Self.keyCount { try await values.set("old", forKey: "\(number)") }
            try await workspace.compact()
            for number in 0..<Self.keyCount {
                try await values.set(Self.value(number), forKey: "\(number)")
            }
            let name = try #require(try fileNames(in: path, prefix: "log").last)
            // The view's memory is this file's, whatever names it has.
            try FileManager.default.linkItem(
                atPath: "\(path)/\(name)", toPath: "\(path)-log")
            defer { try? FileManager.default.removeItem(atPath: "\(path)-log") }
            let view = try workspace.readView()
            defer { view.close() }
            try await workspace.compact()
            try #require(truncate("\(path)-log", off_t(24 * 4096)) == 0)
            try await expectEach("a view's value") {
                try view.value(forKey: $0, as: String.self, in: values)
            }
            await expectUnreadable("a view's keys") { try view.keys(of: values) }
            await expectUnreadable("a view's count") { try view.count(of: values) }
            // Everybody else reads what was flushed.
            #expect(try values.page(as: String.self, limit: 1000).count == Self.keyCount)
            try await workspace.close()
        }
    }

    @Test func aWatcherIsNotToldAnOlderValue() async throws {
        try await withCutLog { workspace in
            let values = workspace.dictionary("values")
            for number in [0, Self.keyCount - 1, Self.keyCount - 40] {
                let key = "\(number)"
                var isLost = false
                do { _ = try values.value(forKey: key, as: String.self) } catch { isLost = true }
                #expect(isLost == (number > 0))
                let failures = workspace.failures
                let updates = values.updates(of: key, as: String.self)
                let first = Task {
                    var iterator = updates.makeAsyncIterator()
                    return await iterator.next()
                }
                if isLost {
                    for await failure in failures {
                        #expect(failure.code == .io)
                        break
                    }
                    first.cancel()
                    #expect(await first.value == .none)
                } else {
                    #expect(await first.value == .some(Self.value(number)))
                }
            }
        }
    }

    /// A compaction that meets a lost page puts the table back.
    @Test func whatAFailedFlushPutsBackIsFoundOrAnError() async throws {
        try await withCutLog { workspace in
            let values = workspace.dictionary("values")
            do {
                try await workspace.compact()
                Issue.record("what cannot be read became a snapshot")
            } catch is RoostError {}
            try await expectEach("a value") { try values.value(forKey: $0, as: String.self) }
        }
    }

    // MARK: What an earlier opening wrote

    private static let configuration = Workspace.Configuration(
        shardCount: 1, durability: .process, memoryBudgetBytes: 0)

    /// Leaves the workspace open, which nobody refers to afterwards.
    private func writeUnsynced(in path: String) async throws {
        let values = try await Workspace.open(at: path, configuration: Self.configuration)
            .dictionary("values")
        try await values.set([UInt8](repeating: 1, count: 100), forKey: "a")
        try await values.set([UInt8](repeating: 2, count: 8192), forKey: "b")
    }

    /// The story: it was written once more from the mapping, in which zeros stood for a page that was lost, and the sync
    /// succeeded; at the next opening the log broke off there, and what came behind went as an unfinished write.
    @Test func aSyncDoesNotSucceedWithZerosInThePlaceOfAnEarlierOpeningsWrites() async throws {
        try await withTemporaryDirectory { path in
            try await writeUnsynced(in: path)
            let workspace = try await Workspace.open(
                at: path, configuration: Self.configuration)
            let values = workspace.dictionary("values")
            let name = try #require(try fileNames(in: path, prefix: "log").first)
            try #require(truncate("\(path)/\(name)", 4096) == 0)
            await expectUnreadable("b") { try values["b", as: [UInt8].self] as Any }
            var isAcknowledged = false
            do {
                try await values.set(1, forKey: "c", durability: .synced)
                isAcknowledged = true
            } catch let error as RoostError {
                #expect(error.code == .poisoned, "\(error)")
            }
            #expect(!isAcknowledged)
            do { try await workspace.close() } catch is RoostError {}
            let size = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.size]
            #expect(size as? Int == 4096, "nothing was written behind the cut")
        }
    }
}
