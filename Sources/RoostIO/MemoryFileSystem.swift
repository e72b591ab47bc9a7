import Synchronization

/// A file system of one directory in memory, for workspaces without files: nothing in it
/// outlives the last reference to it.
package final class MemoryFileSystem: FileSystem {
    package init() {}

    package func openDirectory(at path: String, create: Bool) throws -> any Directory {
        MemoryDirectory(path: path)
    }
}

private final class MemoryDirectory: Directory {
    let path: String
    private let files = Mutex<[String: MemoryFile]>([:])

    init(path: String) { self.path = path }

    // Nobody else can name this directory, and there is no disk to wait for.
    func lock(exclusive: Bool, patience: Duration) throws {}
    func unlock() throws {}
    func sync() throws {}

    func entries() throws -> [DirectoryEntry] {
        files.withLock { $0.keys.map { DirectoryEntry(name: $0, isRegularFile: true) } }
    }

    func createFile(_ name: String) throws -> any File {
        try files.withLock { files in
            guard files[name] == nil else { throw failure("create: the file exists", name) }
            let file = MemoryFile(path: "\(path)/\(name)")
            files[name] = file
            return file
        }
    }

    func openFile(_ name: String, writable: Bool) throws -> any File {
        try files.withLock { files in
            guard let file = files[name] else { throw failure("open: there is no such file", name) }
            return file
        }
    }

    func rename(_ source: String, to target: String) throws {
        try files.withLock { files in
            guard let file = files.removeValue(forKey: source) else {
                throw failure("rename: there is no such file", source)
            }
            files[target] = file
        }
    }

    func remove(_ name: String) throws {
        try files.withLock { files in
            guard files.removeValue(forKey: name) != nil else {
                throw failure("remove: there is no such file", name)
            }
        }
    }

    private func failure(_ what: String, _ name: String) -> RoostError {
        RoostError(.io, "could not \(what)", file: "\(path)/\(name)")
    }
}

/// - The content is `bytes`, then zeros up to `sizeBytes`: what was only preallocated takes no
///   memory.
private final class MemoryFile: File {
    private struct Content {
        var bytes: [UInt8] = []
        var sizeBytes = 0
    }

    let path: String
    private let content = Mutex(Content())

    init(path: String) { self.path = path }

    func sizeBytes() throws -> UInt64 { content.withLock { UInt64($0.sizeBytes) } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        try content.withLock { content in
            let begin = Int(offset)
            guard begin + buffer.count <= content.sizeBytes else {
                throw RoostError(.corrupt, "the file ends early", file: path, offset: offset)
            }
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            guard begin < content.bytes.count else { return }
            let end = min(begin + buffer.count, content.bytes.count)
            buffer.copyBytes(from: content.bytes[begin..<end])
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        content.withLock { content in
            let begin = Int(offset)
            let end = begin + bytes.count
            content.bytes.appendZeros(end - content.bytes.count)
            content.bytes.replaceSubrange(begin..<end, with: bytes)
            content.sizeBytes = max(content.sizeBytes, end)
        }
    }

    func preallocate(sizeBytes: UInt64) throws {
        content.withLock { $0.sizeBytes = max($0.sizeBytes, Int(sizeBytes)) }
    }

    func truncate(to sizeBytes: UInt64) throws {
        content.withLock { content in
            content.sizeBytes = Int(sizeBytes)
            if content.bytes.count > content.sizeBytes {
                content.bytes.removeLast(content.bytes.count - content.sizeBytes)
            }
        }
    }

    func writtenEnd() throws -> UInt64 { content.withLock { UInt64($0.bytes.count) } }

    func syncData() throws {}

    // The log then keeps its segments in memory of its own, and readers get a copy.
    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? { nil }
}
