import Foundation

/// Runs `body` with the path of a directory of its own, which is removed afterwards.
package func withTemporaryDirectory<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
) async throws -> Result {
    let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("roost-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    do {
        let result = try await body(url.path)
        try FileManager.default.removeItem(at: url)
        return result
    } catch {
        try FileManager.default.removeItem(at: url)
        throw error
    }
}

/// Copies a directory of files, as a crash at this moment would leave it: what an open mapping
/// has written is in the copy, what a process only holds in memory is not.
package func copyDirectory(_ source: String, to target: String) throws {
    let manager = FileManager.default
    if manager.fileExists(atPath: target) { try manager.removeItem(atPath: target) }
    try manager.createDirectory(atPath: target, withIntermediateDirectories: true)
    for name in try manager.contentsOfDirectory(atPath: source) {
        // A running compaction may remove a file between the two calls; then it was not needed,
        // unless the manifest copied before still names it, so copy only what stands still.
        try manager.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
    }
}

/// Every file's name and content.
package func contents(ofDirectory path: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
        files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
    }
    return files
}

/// The names of the files in a directory that begin with `prefix`, in order.
package func fileNames(in path: String, prefix: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(prefix) }
        .sorted()
}

package func readBytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}

/// Replaces a file's content in place.
package func writeBytes(_ bytes: some Collection<UInt8>, to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
}
