import Foundation
import RoostEngine
import RoostFormat
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost
@testable import RoostCommand

@Suite struct IndexTests {
    private func verified(_ path: String) async throws -> Tool.Outcome {
        try await Tool.run("verify", path)
    }

    /// Changes the entries of an index, as no call of the library does.
    private func damage(
        _ path: String, _ name: String,
        _ body: (StoredRepository, StoredIndex, inout EncodedBatch) throws -> Void
    ) async throws {
        let workspace = try await Workspace.open(at: path)
        let repository = try StoredRepository(workspace, "Bird")
        let index = try #require(repository.indexes.first { $0.name == name })
        var batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
        try body(repository, index, &batch)
        _ = try await workspace.engine.commit(batch, durability: .synced)
        try await workspace.close()
    }

    private func firstEntry(
        _ repository: StoredRepository, _ index: StoredIndex
    ) throws -> StoredRepository.Entry {
        var first: StoredRepository.Entry?
        try repository.forEachEntry(of: index) { entry in
            first = entry
            return false
        }
        return try #require(first)
    }

    @Test func statListsTheIndexesWithTheirSizes() async throws {
        try await ObjectSamples.withBirds { path in
            let stat = try await Tool.run("stat", path, "--format", "json")
            let figures = try #require(
                try JSONSerialization.jsonObject(with: Data(stat.output.utf8)) as? [String: Any])
            let indexes = try #require(figures["indexes"] as? [[String: Any]])
            #expect(
                indexes.compactMap { $0["name"] as? String }
                    == ["name", "priority", "ringed-priority", "seen", "tags"])
            #expect(indexes.allSatisfy { $0["state"] as? String == "built" })
            #expect(indexes[1]["entryCount"] as? Int == 200)
            #expect(indexes[1]["shape"] as? String == "priority:int64")
            #expect(indexes[1]["sizeBytes"] as? Int ?? 0 > 200 * 9)
            let text = try await Tool.run("stat", path)
            #expect(
                text.output.contains("name \"priority\"  shape \"priority:int64\"  state \"built\"")
            )
        }
    }

    @Test func indexesThatAreRightAreVerifiedByWhatIsStored() async throws {
        try await ObjectSamples.withBirds { path in
            let outcome = try await verified(path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(
                outcome.lines.contains(
                    "index \"priority\" of \"Bird\": 200 entries, compared with 200 objects"))
            #expect(
                outcome.lines.contains(
                    "index \"tags\" of \"Bird\": 320 entries, compared with 200 objects"))
        }
    }

    @Test(arguments: ["priority", "name", "ringed-priority", "tags"])
    func anEntryThatIsMissingIsFound(_ name: String) async throws {
        try await ObjectSamples.withBirds { path in
            try await damage(path, name) { repository, index, batch in
                let entry = try firstEntry(repository, index)
                let key = name == "name" ? entry.form : entry.form + entry.objectKey.utf8
                batch.write(nil, recordKey: index.entries.prefix + key, in: index.entries)
            }
            let outcome = try await verified(path)
            #expect(outcome.status == 3)
            #expect(
                outcome.errors.contains("index \"\(name)\" of \"Bird\": 1 objects have no entry"),
                "\(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1)
        }
    }

    @Test(arguments: ["priority", "seen"])
    func anEntryOfAnObjectThatIsNotThereIsFound(_ name: String) async throws {
        try await ObjectSamples.withBirds { path in
            try await damage(path, name) { repository, index, batch in
                let entry = try firstEntry(repository, index)
                batch.write(
                    IndexEntry(form: entry.form, isSole: false).value(Array("b900".utf8)),
                    recordKey: index.entries.prefix + entry.form + Array("b900".utf8),
                    in: index.entries)
            }
            let outcome = try await verified(path)
            #expect(outcome.status == 3)
            #expect(
                outcome.errors.contains("1 entries are of objects that are not there, as \"b900\""),
                "\(outcome.errors)")
        }
    }

    @Test func anEntryOfAnotherValueIsFound() async throws {
        try await ObjectSamples.withBirds { path in
            try await damage(path, "priority") { repository, index, batch in
                let entry = try firstEntry(repository, index)
                let key = Array(entry.objectKey.utf8)
                let other = IndexForm(100_000).bytes
                batch.write(
                    nil, recordKey: index.entries.prefix + entry.form + key, in: index.entries)
                batch.write(
                    IndexEntry(form: other, isSole: false).value(key),
                    recordKey: index.entries.prefix + other + key, in: index.entries)
            }
            let outcome = try await verified(path)
            #expect(outcome.status == 3)
            #expect(
                outcome.errors.contains(
                    "index \"priority\" of \"Bird\": 1 objects have no entry of what they have stored"
                ),
                "\(outcome.errors)")
            let asJSON = try await Tool.run("verify", path, "--format", "json")
            #expect(asJSON.status == 3)
            #expect(asJSON.output.hasPrefix(#"{"isSound":false,"#))
        }
    }

    @Test func anEntryTooManyIsFound() async throws {
        try await ObjectSamples.withBirds { path in
            try await damage(path, "tags") { repository, index, batch in
                let entry = try firstEntry(repository, index)
                let key = Array(entry.objectKey.utf8)
                let other = IndexForm("no such tag").bytes
                batch.write(
                    IndexEntry(form: other, isSole: false).value(key),
                    recordKey: index.entries.prefix + other + key, in: index.entries)
            }
            let outcome = try await verified(path)
            #expect(outcome.status == 3)
            #expect(
                outcome.errors.contains("1 entries are of what no object has stored"),
                "\(outcome.errors)")
        }
    }

    private struct Page: Codable, Identifiable, Sendable, Indexed {
        enum Level: String, Codable, CaseIterable, Comparable, IndexRepresentable {
            case low, medium, high
            static func < (left: Level, right: Level) -> Bool {
                allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
            }
        }
        var id: Int
        var url: URL
        var base: URL?
        var level: Level
        var urgency: Level?

        init(_ id: Int) {
            self.id = id
            url = URL(string: "https://example.com/\(id)")!
            base = id % 3 == 0 ? nil : url
            level = Level.allCases[id % 3]
            urgency = id % 2 == 0 ? nil : level
        }

        static var indexes: [Index<Page>] {
            [
                Index("url", \.url, isUnique: true), Index("base", .descending(\.base)),
                Index("level", \.level), Index("urgency", \.urgency, \.url),
            ]
        }
    }

    @Test func indexesOfURLsAndOfCasesInAnOrderOfTheirOwnAreChecked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let pages = workspace.repository(of: Page.self)
            try await pages.saveAll((0..<60).map { Page($0) })
            try await pages.indexesBuilt()
            try await workspace.close()
            let outcome = try await verified(path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            for name in ["url", "base", "level", "urgency"] {
                #expect(
                    outcome.lines.contains("index \"\(name)\" of \"Page\": 60 entries"),
                    "\(outcome.output)")
            }
            // What is stored does not say where in the order a case is.
            let found = try await Tool.run(
                "objects", path, "Page", "--where", "urgency == nil && level == .high", "--explain")
            #expect(found.output.hasPrefix("every object"), "\(found.output)")
        }
    }

    @Test func anIndexOfAShapeOfALaterVersionIsNotChecked() async throws {
        try await ObjectSamples.withBirds { path in
            let workspace = try await Workspace.open(at: path)
            let view = try workspace.engine.view()
            var root = try IndexCatalog.readRoot(view)
            view.close()
            let place = try #require(root.indexes.firstIndex { $0.name == "priority" })
            root.indexes[place].shape = "priority:roman"
            var batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
            batch.write(
                try IndexCatalog.encode(root), recordKey: IndexCatalog.root, in: IndexCatalog.name)
            _ = try await workspace.engine.commit(batch, durability: .synced)
            try await workspace.close()
            let outcome = try await verified(path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(
                outcome.lines.contains(
                    "index \"priority\" of \"Bird\": its shape is not known to this version: priority:roman, not checked"
                ), "\(outcome.output)")
            let asJSON = try await Tool.run("verify", path, "--format", "json")
            #expect(asJSON.output.contains("\"isChecked\":false"))
        }
    }

    /// A view has no moment of its own for deadlines: what expires while an index is checked goes in the middle of it.
    @Test func objectsThatExpireWhileTheyAreCheckedAreNoDamage() async throws {
        for step in [1, 7, 40, 200] {
            // Goes on by so many milliseconds each time that it is read.
            let milliseconds = Mutex(1_000_000_000_000)
            let isRunning = Mutex(false)
            let clock = WallClock {
                let now = milliseconds.withLock { now in
                    if isRunning.withLock({ $0 }) { now += step }
                    return now
                }
                return Date(timeIntervalSince1970: Double(now) / 1_000)
            }
            let workspace = try await Workspace.inMemory(configuration: .init(clock: clock))
            let birds = workspace.repository(of: Bird.self)
            for id in 0..<200 {
                if id % 4 == 0 {
                    try await birds.save(Bird(id))
                } else {
                    try await birds.save(Bird(id), expiresIn: .milliseconds(20 + id * 37 % 4_000))
                }
            }
            try await birds.indexesBuilt()
            isRunning.withLock { $0 = true }
            let findings = try IndexCheck.findings(workspace)
            #expect(findings.count == 5)
            for finding in findings {
                #expect(finding.problems == [], "\(finding.index.name), \(step) ms")
                #expect(finding.passedOver == nil)
            }
            try await workspace.close()
        }
    }

    private struct Weighed: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var price: Float
        var net: Float?
        var whole: Double
        var parts: [Float]

        init(_ id: Int) {
            self.id = id
            price = Float(id) / 10
            net = id % 4 == 0 ? nil : Float(id) * 0.7
            whole = Double(id) / 10
            parts = [price, -price, 1e-20 * price]
        }

        static var indexes: [Index<Weighed>] {
            [
                Index("price", \.price), Index("net", .descending(\.net), .ascending(\.whole)),
                Index("parts", each: \.parts),
            ]
        }
    }

    /// In JSON a Float has the shortest text that tells it from other Floats, and in an index it is a Double.
    @Test(arguments: [.json, .roost, .propertyList] as [ValueCoder])
    func floatsAreComparedAsWhatTheyAre(coder: ValueCoder) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(coder: coder))
            let repository = workspace.repository(of: Weighed.self)
            let objects = (0..<200).map { Weighed($0) }
            try await repository.saveAll(objects)
            try await repository.indexesBuilt()
            try await workspace.close()
            let outcome = try await verified(path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            for name in ["price", "net", "parts"] {
                #expect(
                    outcome.lines.contains {
                        $0.hasPrefix("index \"\(name)\" of \"Weighed\"")
                            && $0.hasSuffix("compared with 200 objects")
                    }, "\(outcome.output)")
            }
            guard coder == .json else { return }
            for (condition, count) in [
                ("price <= 0.3", 4), ("price < 0.3", 3), ("price == 0.3", 1), ("price >= 19.7", 3),
                ("price > 19.7", 2), ("price == 0.1", 1), ("price >= 0.7 && price <= 0.9", 3),
                ("net == 0.7", 1), ("net >= 138.6", 1), ("net <= 0.7", 1),
            ] {
                let found = try await Tool.run(
                    "objects", path, "Weighed", "--where", condition, "--format", "jsonl")
                #expect(found.lines.count == count, "\(condition): \(found.output)")
                let explained = try await Tool.run(
                    "objects", path, "Weighed", "--where", condition, "--explain")
                #expect(explained.output.hasPrefix("index \""), "\(explained.output)")
            }
        }
    }

    @Test func reindexHasTheProgramBuildAnIndexAnew() async throws {
        try await ObjectSamples.withBirds { path in
            try await damage(path, "priority") { repository, index, batch in
                let entry = try firstEntry(repository, index)
                batch.write(
                    nil, recordKey: index.entries.prefix + entry.form + Array(entry.objectKey.utf8),
                    in: index.entries)
            }
            let missing = try await Tool.run("reindex", path, "Bird", "none")
            #expect(missing.status == 1)
            #expect(missing.errors.contains("there is no index \"none\"; there are \"name\""))
            #expect(try await Tool.run("reindex", path, "Nothing").status == 1)
            let marked = try await Tool.run("reindex", path, "Bird", "priority")
            #expect(marked.status == 0)
            #expect(
                marked.errors
                    == "roost: index \"priority\" of \"Bird\" is built at the next opening\n")
            let between = try await verified(path)
            #expect(between.status == 0, "\(between.errors)")
            #expect(
                between.lines.contains(
                    "index \"priority\" of \"Bird\": marked to be built anew, not checked"))
            let scanned = try await Tool.run(
                "objects", path, "Bird", "--where", "priority == 74", "--explain")
            #expect(scanned.output.contains("index \"priority\" is not built"))

            let workspace = try await Workspace.open(at: path)
            let birds = workspace.repository(of: Bird.self)
            try await birds.indexesBuilt()
            #expect(try birds.where { $0.priority == 74 }.count() == 2)
            try await workspace.close()
            let after = try await verified(path)
            #expect(after.status == 0, "\(after.errors)")
            #expect(
                after.lines.contains(
                    "index \"priority\" of \"Bird\": 200 entries, compared with 200 objects"))
        }
    }
}
