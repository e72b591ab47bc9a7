import CRoost

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// The real file system.
package struct PosixFileSystem: FileSystem {
    struct Options: Sendable {
        var allowsMapping: Bool
        var handlesFaults: Bool
    }

    let options: Options

    /// - Parameters:
    ///   - allowsMapping: Whether files may be mapped; `false` takes the `write(2)` path everywhere,
    ///     for file systems on which shared mappings are not coherent.
    ///   - handlesFaults: Whether a page of a mapped file that cannot be had is told as an error. It
    ///     installs a handler of SIGBUS in the process; without it such a page ends the process.
    package init(allowsMapping: Bool = true, handlesFaults: Bool = true) {
        options = Options(allowsMapping: allowsMapping, handlesFaults: handlesFaults)
    }

    package func openDirectory(at path: String, create: Bool) throws -> any Directory {
        if create { try makeDirectories(path) }
        let descriptor = try retryingInterrupts("open directory", path) {
            open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        return PosixDirectory(path: path, descriptor: descriptor, options: options)
    }

    package func removeDirectory(at path: String) throws {
        _ = try retryingInterrupts("remove directory", path) { rmdir(path) }
        try syncDirectory(at: parentPath(of: path))
    }

    /// Gives what is at each of two paths the name of the other, in one step: neither name is ever free. Not on
    /// disk before the directories above are synced.
    ///
    /// - Returns: `false` where the system or the file system cannot do that; nothing is changed then.
    package func exchange(_ one: String, _ other: String) throws -> Bool {
        while roost_exchange_names(one, other) != 0 {
            switch errno {
            case EINTR: continue
            case EINVAL, ENOSYS, ENOTSUP: return false
            default: throw systemError(errno, "exchange with \(other)", one)
            }
        }
        return true
    }

    private func makeDirectories(_ path: String) throws {
        var status = stat()
        if stat(path, &status) == 0 { return }
        guard errno == ENOENT else { throw systemError(errno, "look at", path) }
        let parent = parentPath(of: path)
        if parent != path { try makeDirectories(parent) }
        if mkdir(path, 0o700) != 0 && errno != EEXIST { throw systemError(errno, "create", path) }
        try syncDirectory(at: parent)
    }

    private func syncDirectory(at path: String) throws {
        let descriptor = try retryingInterrupts("open directory", path) {
            open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { close(descriptor) }
        _ = try retryingInterrupts("sync directory", path) { syncDirectoryEntries(descriptor) }
    }
}

/// The path of the directory that holds what is at `path`.
package func parentPath(of path: String) -> String {
    var trimmed = Substring(path)
    while trimmed.count > 1 && trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
}

/// Runs a system call until a signal no longer interrupts it; a negative result is an error.
func retryingInterrupts<Result: SignedInteger>(
    _ action: String, _ path: String, _ call: () -> Result
) throws -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw systemError(errno, action, path) }
    }
}

/// The error for `errno` value `number`, met when trying to `action` the file at `path`.
func systemError(_ number: Int32, _ action: String, _ path: String) -> RoostError {
    let reason = String(cString: strerror(number))
    let full = number == ENOSPC || number == EDQUOT
    return RoostError(
        full ? .outOfSpace : .io,
        full
            ? "no space left to \(action): free some and try again"
            : "could not \(action): \(reason) (errno \(number))",
        file: path)
}
