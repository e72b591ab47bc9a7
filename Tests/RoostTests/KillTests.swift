import Foundation
import Roost
import RoostTestSupport
import Testing

/// A process may be killed between any two instructions. What it was told is written is there
/// afterwards, whatever it was doing: appending, rotating, flushing, merging, recovering.
@Suite struct KillTests {
    @Test(arguments: 0..<runCount(4, whole: 10))
    func everyAcknowledgedWriteSurvivesTwentyKills(round: Int) async throws {
        var random = SeededGenerator(seed: testSeed() &+ UInt64(round))
        try await withTemporaryDirectory { path in
            var values: [String: Int] = [:]
            var pairs = 0
            var first = 1
            for _ in 0..<20 {
                let child = try CrashWriter(
                    path, first: first, mode: random.once(in: 3) ? "compact" : "write")
                child.read(lineCount: 1 + random.below(random.once(in: 4) ? 3_000 : 300))
                child.kill()
                #expect(child.lines.first == "ready")
                for line in child.lines.dropFirst() {
                    let words = line.split(separator: " ")
                    let number = try #require(words.last.flatMap { Int($0) }, "\(line)")
                    first = max(first, number + 1)
                    switch words[0] {
                    case "set": values[String(words[1])] = number
                    case "pairs": pairs = number
                    default: Issue.record("\(line)")
                    }
                }
                try await check(path, values, pairs)
                // Beyond whatever the child may have written without being able to say so.
                first += 10
            }
        }
    }

    private func check(_ path: String, _ values: [String: Int], _ pairs: Int) async throws {
        let workspace = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        let dictionary = workspace.dictionary("values")
        for (key, number) in values {
            let text = try dictionary.value(forKey: key, as: String.self)
            let found = try #require(
                text?.split(separator: " ").first.flatMap { Int($0) }, "\(key)")
            #expect(found >= number, "\(key)")
            #expect(text == "\(found) " + String(repeating: "x", count: found % 300))
        }
        let batches = try (0..<8).map {
            try workspace.dictionary("pairs").value(forKey: "pair-\($0)", as: Int.self)
        }
        #expect(Set(batches).count == 1, "a batch is torn: \(batches)")
        #expect(batches[0] ?? 0 >= pairs)
        let report = try await workspace.verify()
        #expect(report.isSound, "\(report.damages)")
        try await workspace.close()
    }
}
