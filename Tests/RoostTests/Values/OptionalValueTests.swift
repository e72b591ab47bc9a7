import Foundation
import Roost
import RoostTestSupport
import Testing

/// An optional is stored as its value, and `nil` removes the key.
@Suite(.timeLimit(.minutes(5))) struct OptionalValueTests {
    private struct Draft: Codable, Sendable, Equatable { var title: String }

    private struct Note: BinaryCodable, Equatable, Sendable {
        var text: String
        init(text: String) { self.text = text }
        func encode(into writer: inout BinaryWriter) { writer.field(1, text) }
        init(from reader: inout BinaryReader) throws { text = try reader.field(1) }
    }

    @Test func whatWasReadAndMayBeNilIsSetAgain() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            var settings = workspace.dictionary("settings")
            let absent = try settings["absent", as: Draft.self]
            try await settings.set(Draft(title: "a"), forKey: "draft")
            let draft = try settings["draft", as: Draft.self]
            let number = Int("7")
            let note: Note? = Note(text: "n")
            let texts: [String]? = ["x"]
            let date: Date? = Date(timeIntervalSince1970: 5)
            try await settings.set(draft, forKey: "copy", durability: .synced)
            try await settings.set(number, forKey: "number")
            try await settings.set(note, forKey: "note")
            try await settings.set(texts, forKey: "texts")
            try await settings.set(date, forKey: "date", expiresIn: .seconds(600))
            try await settings.set(absent, forKey: "draft")
            settings.enqueue(draft, forKey: "enqueued")
            settings.enqueue(absent, forKey: "copy of nothing")
            try await workspace.synchronize()
            try await workspace.close()

            workspace = try await Workspace.open(at: path)
            settings = workspace.dictionary("settings")
            #expect(try settings["copy", as: Draft.self] == Draft(title: "a"))
            #expect(try settings["number", as: Int.self] == 7)
            #expect(try settings["note", as: Note.self] == Note(text: "n"))
            #expect(try settings["texts", as: [String].self] == ["x"])
            #expect(try settings["date", as: Date.self] == date)
            #expect(try settings.expiration(forKey: "date") != nil)
            #expect(try settings["enqueued", as: Draft.self] == Draft(title: "a"))
            #expect(try settings.keys == ["copy", "date", "enqueued", "note", "number", "texts"])
            try await workspace.close()
        }
    }

    @Test func batchesAndTransactionsTakeOptionals() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let (some, none): (Int?, Int?) = (1, nil)
        let (draft, noDraft): (Draft?, Draft?) = (Draft(title: "a"), nil)
        try await workspace.write { batch in
            batch.set(some, forKey: "a", in: settings)
            batch.set(draft, forKey: "b", in: settings)
        }
        #expect(try settings["a", as: Int.self] == 1)
        #expect(try settings["b", as: Draft.self] == draft)
        try await workspace.transaction { tx in
            let value = try tx.value(forKey: "a", as: Int.self, in: settings)
            try tx.set(value, forKey: "c", in: settings)
            try tx.set(none, forKey: "a", in: settings)
            try tx.set(noDraft, forKey: "b", in: settings)
        }
        #expect(try settings.keys == ["c"])
        #expect(try settings["c", as: Int.self] == 1)
        try await workspace.write { $0.set(none, forKey: "c", in: settings) }
        #expect(try settings.count == 0)
        try await workspace.close()
    }

    @Test func everyOtherCallTakesOptionals() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        let keyed = workspace.dictionary("keyed", keys: Int.self)
        let (some, none): (Draft?, Draft?) = (Draft(title: "a"), nil)
        let note: Note? = Note(text: "n")
        let soon = Date.now.addingTimeInterval(600)
        for value in [some, none] {
            try await values.set(value, forKey: "at", expiresAt: soon)
            try await values.set(value, forKey: "coder", coder: .json)
            let isWritten = try await values.set(value, forKey: "changed", onlyIfChanged: true)
            #expect(isWritten)
            let isWrittenAgain = try await values.set(value, forKey: "changed", onlyIfChanged: true)
            #expect(!isWrittenAgain)
            try await workspace.write {
                $0.set(value, forKey: "batch", in: values, expiresIn: .seconds(600))
            }
            try await workspace.transaction {
                try $0.set(value, forKey: "tx", in: values, expiresIn: .seconds(600))
            }
            try await keyed.set(value, forKey: 1, expiresIn: .seconds(600))
            keyed.enqueue(value, forKey: 2)
            let keys = ["at", "batch", "changed", "coder", "tx"]
            #expect(try values.keys == (value == nil ? [] : keys))
            #expect(try keyed.keys == (value == nil ? [] : [1, 2]))
            for key in keys { #expect(try values[key, as: Draft.self] == value) }
            for key in [1, 2] { #expect(try keyed[key, as: Draft.self] == value) }
        }
        try await keyed.set(note, forKey: 3, expiresIn: .seconds(600))
        keyed.enqueue(note, forKey: 4)
        try await values.set(note, forKey: "at", expiresAt: soon)
        #expect(try keyed[3, as: Note.self] == note)
        #expect(try keyed[4, as: Note.self] == note)
        #expect(try values["at", as: Note.self] == note)
        try await workspace.close()
    }

    /// As written once for both kinds of workspace.
    private func copy(
        _ from: String, _ to: String, in workspace: some KeyValueWorkspace
    ) async throws {
        let values = workspace.dictionary("values")
        let value = try await values.load(from, as: Draft.self)
        try await values.set(value, forKey: to)
        try await workspace.transaction { attempt in
            let value = try await attempt.load(from, as: Draft.self, in: values)
            try attempt.set(value, forKey: "\(to) again", in: values)
        }
    }

    @Test func codeForAnyWorkspaceTakesOptionals() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(Draft(title: "a"), forKey: "a")
        try await values.set(Draft(title: "b"), forKey: "b")
        try await copy("a", "b", in: workspace)
        #expect(try values["b", as: Draft.self] == Draft(title: "a"))
        #expect(try values["b again", as: Draft.self] == Draft(title: "a"))
        try await copy("none", "b", in: workspace)
        #expect(try values.keys == ["a"] || values.keys == ["a", "b again"])
        #expect(try !values.contains("b"))
        try await workspace.close()
    }
}
