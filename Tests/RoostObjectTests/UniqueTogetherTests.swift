import Roost
import RoostTestSupport
import Testing

/// Values that are to be unique, of many objects that one call changes: what counts is how it ends.
@Suite("Unique values that objects pass on") struct UniqueTogetherTests {
    private struct Song: Codable, Identifiable, Equatable, Indexed {
        static var indexes: [Index<Song>] {
            [
                Index("place", \.place, isUnique: true),
                Index("list-title", \.list, .descending(\.title), isUnique: true),
                Index("mail", \.mail, isUnique: true, where: { $0.mail != nil }),
            ]
        }
        var id: Int
        var place: Int
        var list = 0
        var title = ""
        var mail: String?

        init(_ id: Int, _ place: Int) {
            self.id = id
            self.place = place
            title = "t\(id)"
        }

        /// Whether all of them may be stored.
        static func areUnique(_ songs: some Collection<Song>) -> Bool {
            let mails = songs.compactMap(\.mail)
            return Set(songs.map(\.place)).count == songs.count
                && Set(songs.map { "\($0.list) \($0.title)" }).count == songs.count
                && Set(mails).count == mails.count
        }
    }

    private func songs(_ workspace: Workspace) async throws -> Repository<Song> {
        let songs = workspace.repository(of: Song.self)
        try await songs.saveAll((0..<10).map { Song($0, $0) })
        return songs
    }

    @Test("All places move by one, up and down, whatever the identifiers' order")
    func placesMove() async throws {
        let workspace = try await Workspace.inMemory()
        let songs = try await songs(workspace)
        #expect(try await songs.all.updateAll { $0.place += 1 } == 10)
        #expect(try await songs.all.updateAll { $0.place -= 3 } == 10)
        #expect(try songs.order(by: \.place).fetch().map(\.place) == Array(-2..<8))
        #expect(try songs.where { $0.place == 8 }.isEmpty())
        try await workspace.transaction { transaction in
            try transaction.updateAll(songs.where { $0.place < 3 }) { $0.place = 0 - $0.place }
            #expect(try transaction.first(songs.where { $0.place == 2 })?.id == 0)
        }
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }

    @Test("saveAll swaps values, and of one identifier's several objects the last one's are taken")
    func saveAllSwaps() async throws {
        let workspace = try await Workspace.inMemory()
        let songs = try await songs(workspace)
        try await songs.saveAll([Song(1, 2), Song(2, 1)])
        #expect(try songs.order(by: \.place).fetch().map(\.id) == [0, 2, 1, 3, 4, 5, 6, 7, 8, 9])
        // 3 has the place of 4 for a while, which keeps it.
        try await songs.saveAll([Song(3, 4), Song(3, 50), Song(20, 3)])
        #expect(try songs.where { $0.place == 4 }.fetch().map(\.id) == [4])
        #expect(try songs.where { $0.place == 3 }.fetch().map(\.id) == [20])
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }

    @Test(
        "A value that two objects have at the end is refused, by both their keys, and nothing is changed"
    )
    func whatIsTakenIsRefused() async throws {
        let workspace = try await Workspace.inMemory()
        let songs = try await songs(workspace)
        let before = try songs.all.fetch()
        for many in [[Song(1, 30), Song(2, 30)], [Song(1, 2), Song(2, 3)], [Song(40, 5)]] {
            await #expect {
                try await songs.saveAll(many)
            } throws: { error in
                guard let error = error as? RoostError, let cause = error.cause as? NotUnique else {
                    return false
                }
                return error.code == .notUnique && cause.index == "place"
                    && songs.id(ofKey: cause.otherKey) != nil
            }
            #expect(try songs.all.fetch() == before)
        }
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }

    @Test(
        "Random calls for many succeed just where what they end with is unique", arguments: 0..<10)
    func randomCalls(run: UInt64) async throws {
        let seed = 2_480 + run
        var random = SeededGenerator(seed: seed)
        let workspace = try await Workspace.inMemory()
        let songs = try await songs(workspace)
        var model = Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, Song($0, $0)) })
        var counts = (done: 0, refused: 0)
        for step in 0..<60 {
            var many: [Song] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                var song = Song(.random(in: 0..<12, using: &random), 0)
                song = many.last { $0.id == song.id } ?? model[song.id] ?? song
                song.place = .random(in: 0..<14, using: &random)
                song.list = .random(in: 0...1, using: &random)
                song.title = ["a", "\u{e9}", "e\u{301}", "t\(song.id)"].randomElement(
                    using: &random)!
                song.mail = [nil, nil, "m\(song.place)"].randomElement(using: &random)!
                many.append(song)
            }
            let changed = many
            var after = model
            let isUpdate = Bool.random(using: &random)
            for song in changed where !isUpdate || model[song.id] != nil { after[song.id] = song }
            let end = after
            do {
                if isUpdate {
                    _ = try await workspace.transaction { transaction in
                        try transaction.updateAll(songs.where { $0.id.isIn(changed.map(\.id)) }) {
                            $0 = end[$0.id]!
                        }
                    }
                } else {
                    try await songs.saveAll(changed)
                }
                #expect(Song.areUnique(end.values), "seed \(seed), step \(step)")
                model = end
                counts.done += 1
            } catch let error as RoostError {
                #expect(error.code == .notUnique, "seed \(seed), step \(step)")
                #expect(!Song.areUnique(end.values), "seed \(seed), step \(step)")
                counts.refused += 1
            }
            let stored = try songs.all.fetch()
            #expect(stored == model.values.sorted { $0.id < $1.id }, "seed \(seed), step \(step)")
            for place in 0..<14 {
                #expect(
                    try songs.where { $0.place == place }.fetch().map(\.id)
                        == model.values.filter { $0.place == place }.map(\.id))
            }
        }
        #expect(try await workspace.verify().isSound)
        #expect(counts.done > 0 && counts.refused > 0, "seed \(seed)")
        try await workspace.close()
    }
}
