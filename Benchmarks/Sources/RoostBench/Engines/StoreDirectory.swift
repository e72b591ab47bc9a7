import Foundation

/// A directory for one store of any engine.
struct StoreDirectory {
    let path: String

    init(in parent: String) throws {
        path = "\(parent)/roost-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Removes it with what it holds, and the suite of `UserDefaults` that is named for it, if any.
    func remove() {
        do {
            try UserDefaultsEngine.remove(path)
            try FileManager.default.removeItem(atPath: path)
        } catch {
            FileHandle.standardError.write(Data("could not remove \(path): \(error)\n".utf8))
        }
    }
}
