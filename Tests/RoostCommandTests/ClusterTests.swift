import Foundation
import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostCommand

/// Copies between a directory and a shared workspace, over the engine in memory; the command itself runs over
/// real servers in scripts/shared-command.
@Suite struct ClusterTests {
    private func cluster(_ engine: MemoryEngine = MemoryEngine()) async throws -> ClusterStore {
        ClusterStore(
            workspace: try await SharedWorkspace.connect(
                to: .memory(engine), namespace: "n/%",
                configuration: .init(callDeadline: .seconds(120))))
    }

    /// Dictionaries whose names have what the engine's keys escape, and values of every kind of header.
    private func fill(_ workspace: Workspace, _ count: Int) async throws {
        for name in ["a", "a!", "a/b", "%2F", "é"] {
            let dictionary = workspace.dictionary(name)
            try await dictionary.setAll((0..<count).map { ("k\($0)", $0) })
            try await dictionary.set("text", forKey: "ö/%")
            try await dictionary.set(0.5, forKey: "", expiresIn: .seconds(3600))
        }
    }

    private func all(_ store: any RecordStore) async throws -> [StoredRecord] {
        let cursor = try await store.records(StoredRange())
        var records: [StoredRecord] = []
        while let record = try await cursor.next() { records.append(record) }
        return records
    }

    @Test func whatIsCopiedToAClusterAndBackIsTheSame() async throws {
        let first = try await Workspace.inMemory()
        try await fill(first, 300)
        let local = WorkspaceStore(workspace: first)
        let shared = try await cluster()
        let range = StoredRange()
        let there = try await RecordCopy(source: local, target: shared, range: range).run()
        #expect(there == .init(recordCount: 5 * 302, writtenCount: 5 * 302))
        #expect(try await shared.dictionaryNames() == local.dictionaryNames())
        #expect(try await all(shared) == all(local))
        #expect(try await shared.count(of: "a/b") == 302)

        let second = WorkspaceStore(workspace: try await Workspace.inMemory())
        _ = try await RecordCopy(source: shared, target: second, range: range).run()
        #expect(try await all(second) == all(local))
    }

    @Test func rangesAndOrdersAreThoseOfADirectory() async throws {
        let workspace = try await Workspace.inMemory()
        try await fill(workspace, 120)
        let local = WorkspaceStore(workspace: workspace)
        let shared = try await cluster()
        _ = try await RecordCopy(source: local, target: shared, range: StoredRange()).run()
        for order in [ScanOrder.ascending, .descending] {
            for (prefix, from, below) in [
                ("", nil, nil), ("k1", nil, nil), ("k1", "k10", "k15"), ("", "k5", nil),
                ("k9", "a", "b"), ("", "z", "a"),
            ] as [(String, String?, String?)] {
                for (name, limit) in [("a", 7), ("a", .max), (nil, 200), (nil, .max)] {
                    var range = StoredRange(dictionary: name)
                    range.prefix = prefix
                    range.from = from
                    range.below = below
                    range.order = order
                    range.limit = limit
                    let cursors = (try local.records(range), shared.records(range))
                    var count = 0
                    while true {
                        let (one, other) = (
                            try await cursors.0.next(), try await cursors.1.next()
                        )
                        #expect(one == other)
                        guard one != nil, one == other else { break }
                        count += 1
                    }
                    #expect(count <= limit)
                }
            }
        }
    }

    /// A store that fails after so many writes, as a cluster out of reach, or changes what it is given.
    private final class FaultyStore: RecordStore {
        let store: ClusterStore
        private let writesLeft: Mutex<Int>
        let changesValues: Bool

        init(_ store: ClusterStore, writeLimit: Int = .max, changesValues: Bool = false) {
            self.store = store
            writesLeft = Mutex(writeLimit)
            self.changesValues = changesValues
        }

        func write(_ records: [StoredRecord]) async throws {
            let isReached = writesLeft.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            guard isReached else { throw RoostError(.unavailable, "out of reach") }
            var records = records
            if changesValues { records[0].value.payload[0] ^= 1 }
            try await store.write(records)
        }

        func dictionaryNames() async throws -> [String] { try await store.dictionaryNames() }
        func value(forKey key: String, in dictionary: String) async throws -> StoredValue? {
            try await store.value(forKey: key, in: dictionary)
        }
        func records(_ range: StoredRange) -> any RecordCursor { store.records(range) }
        func recordCount(of range: StoredRange) -> Int? { nil }
        func synchronize() {}
        func remove(_ key: String, from dictionary: String) async throws {
            try await store.remove(key, from: dictionary)
        }
        func figures() async throws -> [JSONValue.Member] { try await store.figures() }
    }

    @Test func aCopyThatWasInterruptedGoesOnWhereItWas() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        try await numbers.setAll((0..<2_300).map { ("k\($0)", $0) })
        let local = WorkspaceStore(workspace: workspace)
        let shared = try await cluster()
        let broken = FaultyStore(shared, writeLimit: 2)
        await #expect(throws: RoostError.self) {
            try await RecordCopy(source: local, target: broken, range: StoredRange()).run()
        }
        #expect(try await shared.count(of: "numbers") == 1_000)
        try await numbers.set(-1, forKey: "k0")
        let rest = try await RecordCopy(source: local, target: shared, range: StoredRange()).run()
        #expect(rest == .init(recordCount: 2_300, writtenCount: 1_301))
        #expect(try await all(shared) == all(local))
        let again = try await RecordCopy(source: local, target: shared, range: StoredRange()).run()
        #expect(again.writtenCount == 0)
    }

    @Test func whatTheTargetDoesNotHaveAsItWasWrittenIsAnError() async throws {
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("numbers").set(5, forKey: "five")
        let local = WorkspaceStore(workspace: workspace)
        let changing = FaultyStore(try await cluster(), changesValues: true)
        let failure = await #expect(throws: Failure.self) {
            try await RecordCopy(source: local, target: changing, range: StoredRange()).run()
        }
        #expect(failure?.status == .failed && failure?.message?.contains("\"five\"") == true)
    }

    private func imported(
        _ text: String, into store: some RecordStore
    ) async throws -> Failure? {
        try await withTemporaryDirectory { path in
            let file = "\(path)/lines"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            do {
                _ = try await ImportCommand.importAll(from: try LineReader(path: file), into: store)
                return nil
            } catch { return Failure(error) }
        }
    }

    @Test(arguments: ["key", "value"])
    func aLineThatAClusterDoesNotTakeIsNamed(part: String) async throws {
        let limits = SharedLimits(
            operationCount: 128, commitSizeBytes: 64 << 10, keySizeBytes: 4 << 10)
        let shared = try await cluster(MemoryEngine(limits: limits))
        let long = String(repeating: "k", count: part == "key" ? 5_000 : 70_000)
        let line =
            part == "key"
            ? "{\"dictionary\":\"d\",\"key\":\"\(long)\",\"value\":1}"
            : "{\"dictionary\":\"d\",\"key\":\"k\",\"value\":\"\(long)\"}"
        let failure = try #require(
            try await imported(lines(0..<2) + line + "\n" + lines(3..<5), into: shared))
        #expect(failure.status == .usage)
        let message = try #require(failure.message)
        #expect(message.hasPrefix("line 3: ") && message.utf8.count < 300, "\(message)")
        #expect(message.hasSuffix("0 records before it were imported"), "\(message)")
        // Behind a batch that was written.
        let later = try #require(
            try await imported(lines(0..<1_500) + line + "\n", into: shared)?.message)
        #expect(later.hasPrefix("line 1501: "), "\(later)")
        #expect(later.hasSuffix("1,000 records before it were imported"), "\(later)")
        #expect(try await shared.count(of: "d") == 1_000)
    }

    @Test func anImportThatFailsSaysHowFarItCame() async throws {
        let broken = FaultyStore(try await cluster(), writeLimit: 1)
        let failure = try #require(try await imported(lines(0..<2_500), into: broken))
        #expect(failure.status == .failed)
        let message = failure.message ?? ""
        #expect(message.contains("out of reach"), "\(message)")
        #expect(
            message.contains(
                "1,000 records before line 1001 were imported, and of those up to line 2000 none or some"
            ), "\(message)")
    }

    @Test func aRecordThatAClusterDoesNotTakeIsNamedByACopy() async throws {
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("texts").set(
            String(repeating: "x", count: 70_000), forKey: "long")
        let limits = SharedLimits(
            operationCount: 128, commitSizeBytes: 64 << 10, keySizeBytes: 4 << 10)
        let shared = try await cluster(MemoryEngine(limits: limits))
        let error = await #expect(throws: RoostError.self) {
            try await RecordCopy(
                source: WorkspaceStore(workspace: workspace), target: shared, range: StoredRange()
            ).run()
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.hasPrefix("\"long\" in \"texts\": ") == true)
    }

    @Test func optionsOfAClusterMayStandBeforeTheSubcommand() {
        #expect(ClusterTool.arguments(["get", "w", "d", "--cluster-like"]) == nil)
        #expect(ClusterTool.arguments(["set", "w", "d", "k", "--", "--cluster"]) == nil)
        #expect(
            ClusterTool.arguments(["--cluster", "etcd://h:1", "--namespace=n", "get", "d", "k"])
                == ["get", "--cluster", "etcd://h:1", "--namespace=n", "d", "k"])
        #expect(
            ClusterTool.arguments(["get", "d", "k", "--cluster=etcd://h:1"])
                == ["get", "d", "k", "--cluster=etcd://h:1"])
    }

    @Test func whatIsNotBuiltOrNoClusterIsSaid() async throws {
        let other = try await Tool.run("--cluster", "http://h", "--namespace", "n", "keys")
        #expect(other.status == 2 && other.errors.contains("etcd://"))
        let nameless = try await Tool.run("--cluster", "etcd://h:1", "keys")
        #expect(nameless.status == 2 && nameless.errors.contains("--namespace"))
        try await withTemporaryDirectory { path in
            let copy = try await Tool.run("copy", "\(path)/w", "etcd://127.0.0.1:1")
            #expect(copy.status == 2 || copy.status == 5)
        }
        for arguments in [
            ["postgress://user:secret@h/d", "w"], ["w", "Postgres://user:secret@h/d"],
        ] {
            let copy = try await Tool.run(["copy"] + arguments + ["--namespace", "n"])
            #expect(copy.status == 2 && copy.errors.contains("an address"))
            #expect(!(copy.errors + copy.output).contains("secret"))
        }
        for arguments in [
            ["--cluster", "--help"], ["--cluster", "-h"], ["--cluster"],
            ["--cluster", "etcd://h:1"],
            ["--cluster", "etcd://h:1", "--namespace", "n", "--help"],
        ] {
            let help = try await Tool.run(arguments)
            #expect(help.status == 0 && help.output.contains("<subcommand>"), "\(arguments)")
            #expect(help.output.contains("USAGE: roost --cluster"), "\(arguments)")
        }
        let ofOne = try await Tool.run("--cluster", "etcd://h:1", "keys", "--help")
        #expect(ofOne.status == 0 && ofOne.output.contains("--prefix"))
    }
}
