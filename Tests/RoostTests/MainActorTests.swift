import Roost
import RoostTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MainActorTests {
    /// The story: a view's model sets a value on the main actor. Nothing else is under way, so the
    /// call has nothing to wait for, and costs no change of threads.
    @Test func writesFromTheMainActorDoNotGiveItUp() async throws {
        try await withTemporaryDirectory { path in
            try await Self.write(at: path)
            let again = try await Workspace.open(at: path)
            let settings = again.dictionary("settings")
            #expect(try settings.count == 3)
            #expect(try settings["number", as: Int.self] == 199)
            #expect(try settings["sum", as: Int.self] == 199 * 200 / 2)
            #expect(try settings[volume] == 0.5)
            try await again.close()
        }
    }

    @MainActor private static func write(at path: String) async throws {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(durability: .process))
        let settings = workspace.dictionary("settings")
        let others = Others()
        let waiting = Task { others.count += 1 }
        for number in 0..<200 {
            try await settings.set(number, forKey: "number")
            try await settings.set(Double(number), for: volume)
            try await settings.set(0.5, for: volume, onlyIfChanged: true)
            try await settings.set(number, forKey: "short", expiresIn: .seconds(60))
            try await settings.update("sum", default: 0) { $0 += number }
            let entry = try settings.entry(forKey: "short", as: Int.self)
            let newer = try await settings.replace(entry, with: number + 1)
            try await settings.remove(newer)
            try await settings.set("gone", forKey: "gone")
            try await settings.removeValue(forKey: "gone")
            MainActor.assertIsolated()
        }
        #expect(others.count == 0)
        await waiting.value
        #expect(others.count == 1)
        try await workspace.close()
    }
}

private let volume = Key<Double>("volume", default: 1)

/// What else ran on the main actor.
@MainActor private final class Others {
    var count = 0
}
