import Foundation
import RoostEngine
import RoostFormat
import RoostTestSupport
import Testing

@testable import Roost

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
