// Written by `make blocks` from docs/API.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing


extension Blocks {
    static func api_following(home: String) async throws {
        try await Task.sleep(for: .zero)
        let path = "\(home)/data"
        _ = path
        let writer = try await Workspace.open(at: path)
        _ = writer
        let reader = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        _ = reader
        try await reader.catchUp()                                                 // all that was committed before
        let behind = reader.following?.batchesBehind                               // and `sequence`, `isWriterOpen`
        _ = behind
        #expect(behind == 0)
        try await reader.close()
        try await writer.close()
    }
}
