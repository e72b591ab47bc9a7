import Foundation
import Roost
import RoostShared
import Testing

private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var title = ""
    var editCount = 0
}

private enum Theme: String, Codable, Sendable { case light, dark }

extension Key where Value == Theme {
    fileprivate static var theme: Self { .init("ui.theme", default: .light) }
}

/// Calls that a `Workspace` has, written for a shared one.
@Suite(.timeLimit(.minutes(5))) struct NaturalSpellingTests {
    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .memory(), namespace: "test")
    }

    /// Runs on either kind of workspace.
    private func move(in workspace: some KeyValueWorkspace) async throws {
        let a = workspace.dictionary("a")
        let b = workspace.dictionary("b")
        try await b.set("old", forKey: "gone")
        try await a.set(1, forKey: "n")
        let count = try await workspace.write { batch in
            batch.removeValue(forKey: "n", in: a)
            batch.set("kept", forKey: "m", in: b)
            batch.set(.dark, for: .theme, in: a)
            batch.set(5, forKey: "soon", in: a, expiresIn: .seconds(600))
            batch.removeAll(in: b)
            return batch.count
        }
        #expect(count == 5)
        #expect(try await a.load("n", as: Int.self) == nil)
        #expect(try await a.load(.theme) == .dark)
        #expect(try await a.load("soon", as: Int.self) == 5)
        // What the batch itself sets stays, as in a batch of a `Workspace`.
        #expect(try await b.load("m", as: String.self) == "kept")
        #expect(try await b.count == 1)
    }

    @Test func aBatchIsWrittenAtOnce() async throws {
        try await move(in: try await connect())
        try await move(in: try await Workspace.inMemory())
        let workspace = try await connect()
        let values = workspace.dictionary("values")
        let before = try await workspace.revision
        try await workspace.write { batch in
            for n in 0..<5 { batch.set(n, forKey: "\(n)", in: values) }
        }
        #expect(try await workspace.revision == before + 1)
    }

    @Test func aBatchThatFailsChangesNothing() async throws {
        struct Stop: Error {}
        let workspace = try await connect()
        let values = workspace.dictionary("values")
        let before = try await workspace.revision
        await #expect(throws: Stop.self) {
            try await workspace.write { batch in
                batch.set(1, forKey: "a", in: values)
                throw Stop()
            }
        }
        let error = await #expect(throws: RoostError.self) {
            try await workspace.write { batch in
                batch.set(1, forKey: "a", in: values)
                let unnamed = workspace.dictionary(String(repeating: "n", count: 300))
                batch.set(2, forKey: "b", in: unnamed)
            }
        }
        #expect(error?.code == .keyTooLarge)
        #expect(try await workspace.revision == before)
    }

    @Test func severalObjectsAreFoundInTheirOrder() async throws {
        let notes = try await connect().repository(of: Note.self)
        try await notes.saveAll((0..<40).map { Note(id: $0) })
        #expect(try await notes.find(by: [7, 99, 3, 7]).map(\.id) == [7, 3, 7])
        #expect(try await notes.find(by: (0..<40).reversed()).map(\.id) == (0..<40).reversed())
        #expect(try await notes.find(by: []).isEmpty)
    }

    /// Both forms of `update` are told apart by what their bodies do with the object.
    @Test func anUpdateMayTakeTheObjectThatIsThere() async throws {
        let workspace = try await connect()
        let notes = workspace.repository(of: Note.self)
        try await notes.save(Note(id: 1))
        try await notes.update(1) { $0.editCount += 1 }
        let title: String? = try await notes.update(1) { note in
            note.title = "changed"
            return note.title
        }
        #expect(title == "changed")
        let none: Void? = try await notes.update(2) { $0.editCount += 1 }
        #expect(none == nil)
        #expect(try await notes.find(by: 2) == nil)
        // An object that is set is there, as before.
        try await notes.update(3) { $0 = Note(id: 3) }
        #expect(try await notes.find(by: 3) != nil)
        try await notes.update(1) { $0?.editCount += 1 }
        #expect(try await notes.find(by: 1) == Note(id: 1, title: "changed", editCount: 2))
        try await notes.update(1) { $0 = nil }
        #expect(try await notes.find(by: 1) == nil)

        let synced = SyncedRepository(
            of: Note.self, in: try await Workspace.inMemory(), with: workspace)
        try await synced.save(Note(id: 1))
        try await synced.update(1) { $0.editCount += 1 }
        let noneHere: Void? = try await synced.update(2) { $0.editCount += 1 }
        #expect(noneHere == nil)
        #expect(try synced[1]?.editCount == 1 && synced[2] == nil)
        try await synced.synchronize()
    }

    @Test func aKeysValueIsFollowed() async throws {
        let workspace = try await connect()
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n")
        var numbers = values.updates(of: "n", as: Int.self).makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        try await values.set(7, forKey: "other")
        try await values.set(2, forKey: "n")
        #expect(try await numbers.next() == 2)
        try await values.removeValue(forKey: "n")
        #expect(try await numbers.next() == .some(nil))
        try await values.set("text", forKey: "n")
        let error = await #expect(throws: RoostError.self) { try await numbers.next() }
        #expect(error?.code == .typeMismatch)
        #expect(try await numbers.next() == nil)

        var themes = values.updates(of: .theme).makeAsyncIterator()
        #expect(try await themes.next() == .light)
        try await values.set(.dark, for: .theme)
        #expect(try await themes.next() == .dark)
        try await values.removeValue(for: .theme)
        #expect(try await themes.next() == .light)
        await workspace.close()
        #expect(try await themes.next() == nil)
    }

    @Test func aReaderOfAValueEndsWithItsTask() async throws {
        let values = try await connect().dictionary("values")
        let reading = Task {
            var count = 0
            for try await _ in values.updates(of: "n", of: Int.self) { count += 1 }
            return count
        }
        try await Task.sleep(for: .milliseconds(20))
        reading.cancel()
        #expect(try await reading.value <= 1)
    }

    /// Changes that the engine no longer has are made good by reading the value.
    @Test func aMissedValueIsReadAnew() async throws {
        let engine = HookedEngine()
        let workspace = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n")
        engine.set {
            $0.watch = { _, revision in
                let (events, source) = SharedEvents.make()
                source.tell(.compacted(oldest: revision + 5))
                return events
            }
        }
        var numbers = values.updates(of: "n", of: Int.self).makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        try await values.set(2, forKey: "n")
        #expect(try await numbers.next() == 2)
    }

    @Test func aFollowedKeysValueIsTold() async throws {
        let workspace = try await connect()
        let shared = workspace.dictionary("settings")
        try await shared.set(.dark, for: .theme)
        let local = try await Workspace.inMemory()
        let followed = try await workspace.follow("settings", in: local)
        var themes = followed.updates(of: .theme).makeAsyncIterator()
        #expect(await themes.next() == .dark)
        try await shared.set(.light, for: .theme)
        #expect(await themes.next() == .light)
        var numbers = followed.updates(of: "n", as: Int.self).makeAsyncIterator()
        #expect(await numbers.next() == .some(nil))
        try await shared.set(3, forKey: "n")
        #expect(await numbers.next() == 3)
        await followed.close()
    }
}
