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

/// Copies a workspace's directory, as a crash at this moment would leave it: what an open mapping
/// has written is in the copy, what a process only holds in memory is not. Nobody writes meanwhile;
/// a compaction may run, and is then outwaited.
package func copyDirectory(_ source: String, to target: String) throws {
    for _ in 0..<1000 where try copiedAtOneMoment(source, to: target) { return }
    throw CopyError.neverAtRest(source)
}

package enum CopyError: Error {
    case neverAtRest(String)
    case unreadable(String)
}

/// Whether the copy is of one moment: no file went or came, no manifest replaced another.
private func copiedAtOneMoment(_ source: String, to target: String) throws -> Bool {
    let manager = FileManager.default
    func state() throws -> (names: Set<String>, manifest: Data?) {
        let names = Set(try manager.contentsOfDirectory(atPath: source))
        return (names, manager.contents(atPath: "\(source)/MANIFEST"))
    }
    if manager.fileExists(atPath: target) { try manager.removeItem(atPath: target) }
    try manager.createDirectory(atPath: target, withIntermediateDirectories: true)
    let before = try state()
    for name in before.names {
        let isThere = try copyFile("\(source)/\(name)", to: "\(target)/\(name)")
        if !isThere { return false }
    }
    return try state() == before
}

/// By hand, as a copy by the library may wait for ever for the rest of a file that its writer makes shorter.
///
/// - Returns: whether it was still there.
private func copyFile(_ source: String, to target: String) throws -> Bool {
    let manager = FileManager.default
    var isDirectory: ObjCBool = false
    guard manager.fileExists(atPath: source, isDirectory: &isDirectory) else { return false }
    if isDirectory.boolValue {
        try manager.copyItem(atPath: source, toPath: target)
        return true
    }
    guard let reading = FileHandle(forReadingAtPath: source) else {
        if manager.fileExists(atPath: source) { throw CopyError.unreadable(source) }
        return false
    }
    defer { try? reading.close() }
    try Data().write(to: URL(fileURLWithPath: target))
    let writing = try FileHandle(forWritingTo: URL(fileURLWithPath: target))
    defer { try? writing.close() }
    while let piece = try reading.read(upToCount: 1 << 20), !piece.isEmpty {
        try writing.write(contentsOf: piece)
    }
    return true
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
