import Foundation
import Roost
import RoostSamples
import Synchronization

/// A compacted workspace, removed when the process ends.
final class PartsStore: Sendable {
    let path: String
    let workspace: Workspace
    let bytes: WorkspaceDictionary
    let records: WorkspaceDictionary

    init(keyCount: Int, memoryBudgetBytes: Int? = nil) async throws {
        let path = NSTemporaryDirectory() + "/roost-parts-\(UUID().uuidString)"
        self.path = path
        _ = removesAtExit
        madePaths.withLock { $0.append(path) }
        var configuration = Workspace.Configuration(durability: .process)
        if let memoryBudgetBytes { configuration.memoryBudgetBytes = memoryBudgetBytes }
        workspace = try await Workspace.open(at: path, configuration: configuration)
        bytes = workspace.dictionary("bytes")
        records = workspace.dictionary("records")
        for index in 0..<keyCount {
            try await bytes.set(Sample.value(index), forKey: Sample.key(index))
        }
        if keyCount > 0 { try await workspace.compact() }
    }

    /// All values have been read.
    static func warm(keyCount: Int) async throws -> PartsStore {
        let store = try await PartsStore(keyCount: keyCount)
        for index in 0..<keyCount {
            _ = try store.bytes.value(forKey: Sample.key(index), as: [UInt8].self)
        }
        return store
    }

    static func closed(keyCount: Int) async throws -> PartsStore {
        let store = try await PartsStore(keyCount: keyCount)
        try await store.workspace.close()
        return store
    }
}

// A benchmark's process holds its store until it ends.
private let madePaths = Mutex<[String]>([])
private let removesAtExit: Void = {
    atexit {
        for path in madePaths.withLock({ $0 }) {
            do { try FileManager.default.removeItem(atPath: path) } catch {
                FileHandle.standardError.write(Data("could not remove \(path): \(error)\n".utf8))
            }
        }
    }
}()
