import Foundation
import Roost

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

extension Client {
    static func checkOpening(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        try check(workspace.path == path, "the path is the one given")
        try check(workspace.recovery.isNew, "the workspace is new")
        try await expect(.locked) { _ = try await Workspace.open(at: path) }
        try await workspace.close()
        try await workspace.close()
        try await expect(.closed) { _ = try workspace.dictionary("settings").count }

        let tuned = try await Workspace.open(
            at: path,
            configuration: .init(
                shardCount: 16, durability: .interval(.milliseconds(50)),
                memoryBudgetBytes: 64 << 20, compression: .lz4))
        try check(!tuned.recovery.isNew, "the workspace is there")
        try await tuned.dictionary("settings").set(1, forKey: "launches")
        try await tuned.close()

        let byURL = try await Workspace.open(at: URL(fileURLWithPath: path))
        try await byURL.close()
        let byFilePath = try await Workspace.open(at: FilePath(path))
        try await byFilePath.close()

        let readOnly = try await Workspace.open(
            at: path, configuration: .init(access: .readOnly))
        let settings = readOnly.dictionary("settings")
        try check(try settings.value(forKey: "launches", as: Int.self) == 1, "it reads")
        try await expect(.readOnly) { try await settings.set(2, forKey: "launches") }
        let second = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        try await second.close()
        try await readOnly.close()
    }
}
