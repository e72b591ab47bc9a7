import CRoost
import Synchronization

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
    /// What `path` meant when the directory was opened: a process may change where its paths begin.
    private let absolutePath: String
    private let descriptor: Int32
    private let options: PosixFileSystem.Options
    /// Of the directory's file system, once it was asked.
    private let keepsPreallocation = Mutex<Bool?>(nil)
    /// Under which it stands among the directories that nobody uses any more.
    private let left = Mutex<LeftDirectories.Identity?>(nil)

    init(path: String, descriptor: Int32, options: PosixFileSystem.Options) {
        self.path = path
        absolutePath = path.hasPrefix("/") ? path : Self.currentDirectory + "/" + path
        self.descriptor = descriptor
        self.options = options
    }

    deinit {
        // A child process that is just being started has a copy of the descriptor, with which the lock would stay.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
        // Behind it, so that who waits for it finds the lock free once it stands there no more.
        left.withLock { $0 }.map(LeftDirectories.remove)
    }

    private static var currentDirectory: String {
        guard let start = getcwd(nil, 0) else { return "." }
        defer { free(start) }
        return String(cString: start)
    }

    func lock(exclusive: Bool, patience: Duration) throws {
        try LeftDirectories.waiting(patience, for: descriptor) {
            try DirectoryLock.acquire(descriptor: descriptor, exclusive: exclusive, path: path)
        }
    }

    func unlock() throws { try DirectoryLock.release(descriptor: descriptor, path: path) }

    func noteLeft() {
        left.withLock { left in
            guard left == nil, let identity = LeftDirectories.Identity(descriptor: descriptor)
            else { return }
            LeftDirectories.add(identity)
            left = identity
        }
    }

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
        try open(
            name, flags: O_RDWR | O_CREAT | O_EXCL, action: "create",
            keepsPreallocation: asksWhetherPreallocationIsKept())
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

    func link(_ name: String, from other: any Directory) throws -> Bool {
        guard let other = other as? PosixDirectory else { return false }
        while linkat(other.descriptor, name, descriptor, name, 0) != 0 {
            switch errno {
            case EINTR: continue
            // Another file system, one without links, or a file that has all that it may have.
            case EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS: return false
            default: throw systemError(errno, "link from \(other.path)", full(name))
            }
        }
        return true
    }

    func identity(of name: String) throws -> FileIdentity? {
        var status = stat()
        while fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
            switch errno {
            case EINTR: continue
            case ENOENT: return nil
            default: throw systemError(errno, "look at", full(name))
            }
        }
        #if canImport(Darwin)
            let changed = status.st_mtimespec
        #else
            let changed = status.st_mtim
        #endif
        // Whatever somebody has set the time to: it is compared with itself alone, and may wrap around.
        return FileIdentity(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino),
            changeNanoseconds: Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec))
    }

    func isReplaced() throws -> Bool {
        var (own, named) = (stat(), stat())
        guard fstat(descriptor, &own) == 0 else { throw systemError(errno, "look at", path) }
        while stat(absolutePath, &named) != 0 {
            switch errno {
            case EINTR: continue
            case ENOENT, ENOTDIR: return false
            default: throw systemError(errno, "look at", path)
            }
        }
        return own.st_ino != named.st_ino || own.st_dev != named.st_dev
    }

    func sync() throws {
        _ = try retryingInterrupts("sync directory", path) { syncDirectoryEntries(descriptor) }
    }

    var sharing: MemorySharing {
        get throws {
            guard options.allowsMapping else { return .unknown("one that is not mapped") }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { kind in
                if roost_shares_memory(descriptor, kind.baseAddress!) != 0 { return .mapped }
                return .unknown(String(cString: kind.baseAddress!))
            }
        }
    }

    func syncAncestors() throws {
        var child = try status(descriptor)
        var current = descriptor
        defer { if current != descriptor { close(current) } }
        while true {
            let parent = openat(current, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if parent < 0 {
                let number = errno
                if number == EINTR { continue }
                guard number == EACCES else {
                    throw systemError(number, "open the directory above", path)
                }
                // May be passed through and not read: all of the file system then.
                return try syncFileSystem()
            }
            if current != descriptor { close(current) }
            current = parent
            let status = try status(parent)
            // The root, or another file system, which ours is mounted in.
            if status.st_dev != child.st_dev || status.st_ino == child.st_ino { return }
            _ = try retryingInterrupts("sync the directory above", path) {
                syncDirectoryEntries(parent)
            }
            child = status
        }
    }

    private func syncFileSystem() throws {
        _ = try retryingInterrupts("sync the file system", path) {
            roost_sync_file_system(descriptor)
        }
    }

    private func status(_ descriptor: Int32) throws -> stat {
        var status = stat()
        _ = try retryingInterrupts("look at directory", path) { fstat(descriptor, &status) }
        return status
    }

    private func full(_ name: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// Asked once, and for files that are created alone: no other is appended to.
    private func asksWhetherPreallocationIsKept() -> Bool {
        guard options.allowsMapping else { return false }
        return keepsPreallocation.withLock { kept in
            if let kept { return kept }
            let asked = roost_keeps_preallocation(descriptor) != 0
            kept = asked
            return asked
        }
    }

    private func open(
        _ name: String, flags: Int32, action: String, keepsPreallocation: Bool = true
    ) throws -> any File {
        let opened = try retryingInterrupts(action, full(name)) {
            // Non-blocking, so that a pipe put in a file's place cannot hang the opening.
            openat(descriptor, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode_t(0o600))
        }
        let file = PosixFile(
            path: full(name), descriptor: opened, options: options,
            keepsPreallocation: keepsPreallocation)
        try file.refuseUnlessRegular()
        return file
    }
}
