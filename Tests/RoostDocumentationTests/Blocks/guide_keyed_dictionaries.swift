// Written by `make blocks` from Sources/Roost/Documentation.docc/KeysAndValues.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func guide_keyed_dictionaries(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.inMemory()
        _ = workspace
        let scores = workspace.dictionary("scores", keys: Int.self)
        _ = scores
        try await scores.set(3, forKey: 7)
        try await scores.update(12, default: 0) { $0 += 5 }
        let best = try scores.page(as: Int.self, limit: 1, order: .descending)      // [(12, 5)]
        _ = best
        let left = try await workspace.transaction { tx in
            let score = try tx.value(forKey: 12, as: Int.self, in: scores) ?? 0
            try tx.set(score - 1, forKey: 12, in: scores)
            return score - 1
        }
        #expect(try scores.keys == [7, 12] && left == 4)
    }
}
