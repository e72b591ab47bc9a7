// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_opening_others(home: String) async throws {
        try await Task.sleep(for: .zero)
        let path = "\(home)/data"
        _ = path
        try await Workspace.open(at: path).close()
        let readOnly = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        _ = readOnly
        let forTests = try await Workspace.inMemory()                              // same behaviour, no files; `try Workspace(inMemory: .init())` where nothing can be awaited
        _ = forTests
        try await readOnly.close()
    }
}
