// Written by `make blocks` from Sources/Roost/Documentation.docc/KeysAndValues.md: do not edit.
// swift-format-ignore-file
import Foundation
import Roost
import Testing

private extension Key where Value == Int { static var launches: Self { .init("launches", default: 0) } }
private extension Key where Value == String? { static var nickname: Self { .init("nickname") } }

extension Blocks {
    static func guide_typed_keys(home: String) async throws {
        try await Task.sleep(for: .zero)
        let settings = try await Workspace.inMemory().dictionary("settings")
        _ = settings

        try await settings.update(.launches) { $0 += 1 }
        try await settings.set("ada", for: .nickname)
        try await settings.set(nil, for: .nickname)          // removes it
        #expect(try settings[.launches] == 1 && settings[.nickname] == nil)
    }
}
