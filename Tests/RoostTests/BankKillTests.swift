import Roost
import RoostTestSupport
import Testing

/// Money that eight tasks move among a hundred accounts is all there after every real kill.
@Suite(.timeLimit(.minutes(10))) struct BankKillTests {
    @Test func noMoneyIsMadeOrLostByKills() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            var movedCount = 0
            for life in 0..<12 {
                let child = try CrashWriter(path, mode: "bank")
                child.read(lineCount: 1 + random.below(random.once(in: 3) ? 2_000 : 200))
                child.kill()
                #expect(child.lines.first == "ready", "life \(life)")
                // Else its read views had it that money was made or lost, or a call failed.
                let others = child.lines.dropFirst().filter { !$0.hasPrefix("moved ") }
                #expect(others.isEmpty, "life \(life): \(others)")
                movedCount += child.lines.count - 1
                let workspace = try await Workspace.open(
                    at: path, configuration: .init(access: .readOnly))
                let accounts = workspace.dictionary("accounts")
                let balances = try await accounts.entries(as: Int.self).first(.max).map(\.value)
                // Killed before there were accounts.
                if movedCount > 0 || !balances.isEmpty {
                    #expect(balances.count == 100, "life \(life)")
                    #expect(balances.reduce(0, +) == 10_000, "life \(life)")
                    #expect(balances.allSatisfy { $0 >= 0 }, "life \(life)")
                }
                try await workspace.close()
            }
            #expect(movedCount > 100)
        }
    }
}
