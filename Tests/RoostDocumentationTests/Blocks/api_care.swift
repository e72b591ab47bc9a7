// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_care(home: String) async throws {
        try await Task.sleep(for: .zero)
        let workspace = try await Workspace.open(at: "\(home)/data")
        _ = workspace
        try await workspace.dictionary("d").set(1, forKey: "a")
        try await workspace.compact()
        let report = try await workspace.verify()            // every checksum, every file
        _ = report
        let figures = workspace.statistics                   // sizes, counts, amplification, cache hits
        _ = figures
        try await workspace.backup(to: "\(home)/backups/today")     // hot and consistent
        try await workspace.backup(toSeries: "\(home)/backups/app", keeping: .newest(14))  // what is new since the last one
        try await workspace.close()                          // later calls throw `.closed`
        #expect(report.isSound && figures.snapshotRecordCount == 1)
        let copy = try Workspace(at: "\(home)/backups/today")
        _ = copy
        #expect(try copy.dictionary("d")["a", as: Int.self] == 1)
        try await copy.close()
    }
}
