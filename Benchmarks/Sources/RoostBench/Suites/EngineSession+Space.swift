import Foundation

extension EngineSession {
    /// Bytes on disk a second after filling, after five overwrites of everything and a rest, and
    /// compacted; and what the overwrites wrote per byte of theirs.
    mutating func measureSpace(_ path: String) async throws {
        let engine = try await open(path)
        try await setAll(engine, workload.shuffledIndices(), as: nil)
        try await Task.sleep(for: .seconds(1))
        note("disk-filled", try mebibytes(path), .mebibytes)
        // The kernel counts a page when it turns from clean to dirty.
        sync()
        let before = bytesWrittenToDisk()
        for _ in 0..<5 { try await setAll(engine, workload.shuffledIndices(), as: nil) }
        try await rest(path)
        if let before, let after = bytesWrittenToDisk() {
            let userBytes = Double(keyCount) * 5 * Double(workload.valueSizeBytes + 16)
            note("write-amplification", Double(after - before) / userBytes, .factor)
        }
        note("disk-overwritten", try mebibytes(path), .mebibytes)
        try await engine.compact()
        note("disk-compacted", try mebibytes(path), .mebibytes)
        let stretch = Stretch(.read, Array(workload.shuffledIndices().prefix(10_000)), workload)
        _ = try await runClients(engine, [stretch])
        try await engine.close()
    }

    /// Waits until what the engine does in the background no longer changes the files, at most
    /// twenty seconds.
    func rest(_ path: String) async throws {
        var last = -1.0
        for _ in 0..<20 {
            try await Task.sleep(for: .seconds(1))
            let size = try mebibytes(path)
            if size == last { return }
            last = size
        }
    }

    private func mebibytes(_ path: String) throws -> Double {
        Double(try allocatedSizeBytes(path)) / Double(1 << 20)
    }
}

/// What the files below a directory take on disk: holes are not counted, preallocated space is.
func allocatedSizeBytes(_ path: String) throws -> Int {
    guard let files = FileManager.default.enumerator(atPath: path) else {
        throw BenchError("no directory \(path)")
    }
    var sum = 0
    for case let name as String in files {
        var status = stat()
        // A file that went since it was listed counts nothing.
        guard lstat("\(path)/\(name)", &status) == 0 else { continue }
        if status.st_mode & S_IFMT == S_IFREG { sum += Int(status.st_blocks) * 512 }
    }
    return sum
}

/// What this process has made the kernel write, by calls and through mappings, where it says so.
func bytesWrittenToDisk() -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else {
        return nil
    }
    for line in text.split(separator: "\n") where line.hasPrefix("write_bytes:") {
        return Int(line.split(separator: " ").last ?? "")
    }
    return nil
}
