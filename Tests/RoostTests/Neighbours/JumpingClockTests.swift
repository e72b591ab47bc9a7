import Roost
import RoostTestSupport
import Testing

/// The wall clock is set forward and back by years while values with deadlines are there.
@Suite struct JumpingClockTests {
    private let years = Duration.seconds(20 * 365 * 86_400)

    @Test func valuesWithoutADeadlineStayWhateverTheClockSays() async throws {
        try await withTemporaryDirectory { path in
            let time = SettableTime()
            let configuration = Workspace.Configuration(shardCount: 2, clock: .settable(time))
            var workspace = try await Workspace.open(at: path, configuration: configuration)
            for round in 0..<6 {
                let values = workspace.dictionary("values")
                try await values.set(round, forKey: "stays-\(round)", durability: .synced)
                try await values.set(round, forKey: "goes-\(round)", expiresIn: .seconds(60))
                time.advance(by: round % 2 == 0 ? years : .zero - years - years)
                if round % 3 == 1 { try await workspace.compact() }
                if round % 2 == 1 {
                    try await workspace.close()
                    workspace = try await Workspace.open(at: path, configuration: configuration)
                }
                for earlier in 0...round {
                    let found = try workspace.dictionary("values")["stays-\(earlier)", as: Int.self]
                    #expect(found == earlier)
                }
            }
            #expect(try await workspace.verify().isSound)
            try await workspace.close()
        }
    }

    @Test func whatWasGoneDoesNotComeBackInAnOpeningWhenTheClockGoesBack() async throws {
        try await withTemporaryDirectory { path in
            let time = SettableTime()
            let configuration = Workspace.Configuration(shardCount: 2, clock: .settable(time))
            let workspace = try await Workspace.open(at: path, configuration: configuration)
            let values = workspace.dictionary("values")
            try await values.set(1, forKey: "k", expiresIn: .seconds(60))
            time.advance(by: years)
            #expect(try values["k", as: Int.self] == nil)
            time.advance(by: .zero - years)
            #expect(try values["k", as: Int.self] == nil)
            try await workspace.close()
            // The jump was taken back before anything was compacted: the value was only hidden.
            let again = try await Workspace.open(at: path, configuration: configuration)
            #expect(try again.dictionary("values")["k", as: Int.self] == 1)
            try await again.close()
        }
    }
}
