// Written by `make blocks` from Sources/Roost/Documentation.docc/Backups.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func guide_backups(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.open(at: "\(home)/data")
        _ = workspace
        try await workspace.backup(to: "\(home)/backups/today")
        try await workspace.backup(toSeries: "\(home)/backups/app", keeping: .init(newestCount: 24, dailyCount: 14))
        let report = try await workspace.verify()
        _ = report
        #expect(report.isSound)
        let generations = try Workspace.backups(inSeries: "\(home)/backups/app")
        _ = generations
        #expect(generations.count == 1)
        try await workspace.close()
    }
}
