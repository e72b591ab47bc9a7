#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// A directory held open by descriptor: names are resolved against it, so that a directory that
/// is moved, or a path that is replaced, does not redirect later calls.
final class PosixDirectory: Directory {
    let path: String
    private let descriptor: Int32
    private let allowsMapping: Bool

    init(path: String, descriptor: Int32, allowsMapping: Bool) {
        self.path = path
        self.descriptor = descriptor
        self.allowsMapping = allowsMapping
    }

    deinit { close(descriptor) }

    func lock(exclusive: Bool) throws {
        try DirectoryLock.acquire(descriptor: descriptor, exclusive: exclusive, path: path)
    }

    func unlock() throws { try DirectoryLock.release(descriptor: descriptor, path: path) }

    func entries() throws -> [DirectoryEntry] {
        // A descriptor of its own: reading a directory moves the descriptor's position.
        let copy = try retryingInterrupts("list", path) {
            openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard let stream = fdopendir(copy) else {
            let number = errno
            close(copy)
            throw systemError(number, "list", path)
        }
        defer { closedir(stream) }
        var entries: [DirectoryEntry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw systemError(errno, "list", path) }
                return entries
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            // Most file systems say it here, without a call for each file.
            if entry.pointee.d_type != UInt8(DT_UNKNOWN) {
                let isRegularFile = entry.pointee.d_type == UInt8(DT_REG)
                entries.append(.init(name: name, isRegularFile: isRegularFile))
                continue
            }
            var status = stat()
            if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
                // Removed since it was listed, as another thread of this process may do.
                if errno == ENOENT { continue }
                throw systemError(errno, "look at", full(name))
            }
            entries.append(.init(name: name, isRegularFile: status.st_mode & S_IFMT == S_IFREG))
        }
    }

    func createFile(_ name: String) throws -> any File {
        try open(name, flags: O_RDWR | O_CREAT | O_EXCL, action: "create")
    }

    func openFile(_ name: String, writable: Bool) throws -> any File {
        try open(name, flags: writable ? O_RDWR : O_RDONLY, action: "open")
    }

    func rename(_ source: String, to target: String) throws {
        _ = try retryingInterrupts("rename to \(target)", full(source)) {
            renameat(descriptor, source, descriptor, target)
        }
    }

    func remove(_ name: String) throws {
        _ = try retryingInterrupts("remove", full(name)) { unlinkat(descriptor, name, 0) }
    }

    func sync() throws {
        _ = try retryingInterrupts("sync directory", path) { fsync(descriptor) }
    }

    private func full(_ name: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    private func open(_ name: String, flags: Int32, action: String) throws -> any File {
        let opened = try retryingInterrupts(action, full(name)) {
            // Non-blocking, so that a pipe put in a file's place cannot hang the opening.
            openat(descriptor, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode_t(0o600))
        }
        let file = PosixFile(path: full(name), descriptor: opened, allowsMapping: allowsMapping)
        try file.refuseUnlessRegular()
        return file
    }
}
