import Foundation
import Roost
import RoostTestSupport
import Testing

/// Random steps against a workspace and against a plain dictionary, which must stay alike through
/// reopenings, crashes and compactions.
@Suite struct ModelTests {
    @Test(arguments: 0..<runCount(5, whole: 10))
    func aWorkspaceBehavesAsADictionary(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        try await withTemporaryDirectory { path in
            try await check(ModelRun(seed: seed, path: path), seed)
        }
    }

    @Test(arguments: 0..<runCount(3, whole: 5))
    func aWorkspaceInMemoryBehavesAsADictionary(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        try await WorkspaceKind.inMemory.withHome { home in
            try await check(ModelRun(seed: seed, path: "", home: home), seed)
        }
    }

    private func check(_ begun: ModelRun, _ seed: UInt64) async throws {
        var run = begun
        try await run.open()
        for step in 0..<300 {
            do { try await run.step() } catch {
                Issue.record("seed \(seed) step \(step): \(error)")
                break
            }
            if step % 25 == 24 { try await run.checkAll("seed \(seed) step \(step)") }
        }
        try await run.checkAll("seed \(seed), the end")
        let report = try await run.workspace.verify()
        #expect(report.isSound, "seed \(seed): \(report.damages)")
        try await run.workspace.close()
    }
}

private struct ModelRun {
    var model: Model
    let path: String
    /// For a workspace that is not in a directory of `path`; it does not crash.
    let home: WorkspaceHome?
    private var generation = 0
    private var opened: Workspace?
    private let configuration: Workspace.Configuration

    init(seed: UInt64, path: String, home: WorkspaceHome? = nil) {
        self.home = home
        model = Model(random: SeededGenerator(seed: seed))
        self.path = path
        configuration = .init(
            shardCount: 1 << model.random.below(5), durability: .interval(.milliseconds(5)),
            memoryBudgetBytes: [0, 1 << 14, 1 << 20][model.random.below(3)],
            compression: model.random.once(in: 3) ? .none : .lz4,
            coder: [.roost, .json, .propertyList][model.random.below(3)])
    }

    /// Opened by `open`, which comes first.
    var workspace: Workspace { opened! }
    private var directory: String { "\(path)/\(generation)" }

    mutating func open() async throws {
        opened =
            if let home {
                try await home.open(configuration)
            } else {
                try await Workspace.open(at: directory, configuration: configuration)
            }
    }

    mutating func step() async throws {
        let name = model.anyDictionary()
        let key = model.anyKey()
        let dictionary = workspace.dictionary(name)
        switch model.random.below(40) {
        case 0..<16:
            let value = model.anyValue()
            if model.random.once(in: 4) {
                dictionary.enqueue(value, key)
            } else {
                try await dictionary.set(value, key, model.anyDurability())
            }
            model.set(value, name, key)
        case 16..<21:
            if model.random.once(in: 4) {
                dictionary.enqueueRemoval(forKey: key)
            } else {
                try await dictionary.removeValue(forKey: key, durability: model.anyDurability())
            }
            model.set(nil, name, key)
        case 21..<26: try await writeBatch()
        case 26, 27:
            let pairs = (0..<model.random.below(12)).map { _ in
                (model.anyKey(), model.random.below(99))
            }
            try await dictionary.setAll(pairs, durability: model.anyDurability())
            for (key, value) in pairs { model.set(.int(value), name, key) }
        case 28:
            try await dictionary.removeAll(durability: model.anyDurability())
            model.clear(name)
        case 29: try await workspace.compact()
        case 30:
            try await workspace.close()
            try await open()
        case 31 where home == nil: try await crash()
        default:
            let holds = try await dictionary.holds(model.value(name, key), key)
            #expect(holds, "\(name)/\(key.prefix(20))")
        }
    }

    /// Several changes in several dictionaries at once; of several to one key the last counts.
    private mutating func writeBatch() async throws {
        let model = model
        let (result, after) = try await workspace.write(durability: self.model.anyDurability()) {
            batch in
            var after = model
            if after.random.once(in: 6) {
                let name = after.anyDictionary()
                batch.removeAll(in: workspace.dictionary(name))
                after.clear(name)
            }
            for _ in 0..<after.random.below(10) {
                let name = after.anyDictionary()
                let key = after.anyKey()
                if after.random.once(in: 4) {
                    batch.removeValue(forKey: key, in: workspace.dictionary(name))
                    after.set(nil, name, key)
                } else {
                    let value = after.anyValue()
                    batch.set(value, key, workspace.dictionary(name))
                    after.set(value, name, key)
                }
            }
            return (batch.count, after)
        }
        #expect(result >= 0)
        self.model = after
    }

    /// Goes on in a copy, as a new process would where the old one was killed.
    private mutating func crash() async throws {
        let old = workspace
        // What was only enqueued need not survive.
        try await old.synchronize()
        let source = directory
        generation += 1
        try copyDirectory(source, to: directory)
        try await open()
        try await old.close()
        try FileManager.default.removeItem(atPath: source)
    }

    func checkAll(_ comment: Comment) async throws {
        for name in Model.dictionaries {
            let dictionary = workspace.dictionary(name)
            for key in Model.keys {
                let holds = try await dictionary.holds(model.value(name, key), key)
                #expect(holds, comment)
            }
            let keys = try dictionary.keys.map { Array($0.utf8) }
            #expect(keys == model.keys(of: name), comment)
            #expect(try dictionary.count == keys.count, comment)
        }
        let names = try workspace.dictionaryNames
        #expect(names == Model.dictionaries.filter { !model.keys(of: $0).isEmpty }, comment)
    }
}
