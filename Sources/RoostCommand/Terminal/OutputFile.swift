import Foundation
import RoostFormat
import RoostIO

/// A file that a command writes.
///
/// - A regular file has its name once all of it is on disk, and the extension `incomplete` before: what was there
///   before stays until then. One that is not completed is removed.
/// - One that another command writes to is refused.
/// - Pipes and devices are written as they are, and so is what is open already, as /dev/stdout is.
final class OutputFile {
    let handle: FileHandle
    /// For messages.
    private let path: String
    /// Where the file is to be; `nil` for a pipe or a device, and once it is there.
    private var target: String?

    private static let suffix = ".incomplete"

    /// - Throws: `ValidationError` where `path` is an address; `Failure` where it is a workspace's own file, cannot be
    ///   written, or is being written by another command.
    init(path: String) throws {
        try refuseAddress(path)
        self.path = path
        if let descriptor = Self.descriptor(named: path) {
            // Of this file another may have written the begin, or it has no name any more: nothing takes its place.
            let copy = dup(descriptor)
            guard copy >= 0 else { throw Self.failure(path) }
            handle = FileHandle(fileDescriptor: copy, closeOnDealloc: true)
            return
        }
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            handle = try Self.open(path, O_WRONLY)
            return
        }
        // A link stays, and what it leads to is replaced.
        let target = isThere ? Self.resolved(path) : path
        try Self.refuseFileOfWorkspace(target)
        // Renaming asks for no leave to write to what it replaces.
        if isThere, access(target, W_OK) != 0 { throw Self.failure(path) }
        handle = try Self.openIncomplete(target + Self.suffix, for: path)
        if isThere {
            fchown(handle.fileDescriptor, status.st_uid, status.st_gid)
            fchmod(handle.fileDescriptor, status.st_mode & 0o777)
        }
        self.target = target
    }

    deinit { if let target { unlink(target + Self.suffix) } }

    /// Gives the file its name, once it is on disk.
    func complete() throws {
        guard let target else { return }
        guard fsync(handle.fileDescriptor) == 0, rename(target + Self.suffix, target) == 0 else {
            throw Self.failure(path)
        }
        self.target = nil
    }

    /// The number of the descriptor that `path` is a name of; `nil` where it is none's.
    private static func descriptor(named path: String) -> Int32? {
        switch path {
        case "/dev/stdout": STDOUT_FILENO
        case "/dev/stderr": STDERR_FILENO
        default:
            ["/dev/fd/", "/proc/self/fd/"].first(where: path.hasPrefix).flatMap {
                Int32(path.dropFirst($0.count))
            }
        }
    }

    private static func open(_ path: String, _ flags: Int32) throws -> FileHandle {
        let descriptor = Foundation.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// An empty file that nobody else writes to, as long as it is open.
    private static func openIncomplete(_ name: String, for path: String) throws -> FileHandle {
        while true {
            // Not cut before it is known that nobody writes to it.
            let handle = try open(name, O_WRONLY | O_CREAT | O_NOFOLLOW)
            let descriptor = handle.fileDescriptor
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                if errno == EINTR { continue }
                guard errno == EWOULDBLOCK else { throw failure(path) }
                throw Failure(.failed, "cannot write \(path): another command is writing it")
            }
            var (own, named) = (stat(), stat())
            guard fstat(descriptor, &own) == 0 else { throw failure(path) }
            // Whoever held the lock may have completed or removed the file since it was opened.
            guard lstat(name, &named) == 0, own.st_ino == named.st_ino, own.st_dev == named.st_dev
            else { continue }
            guard ftruncate(descriptor, 0) == 0 else { throw failure(path) }
            return handle
        }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(.failed, "cannot write \(path): \(String(cString: strerror(errno)))")
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func refuseFileOfWorkspace(_ path: String) throws {
        let name = URL(fileURLWithPath: path).lastPathComponent
        guard FileName(name) != nil || name == followedMarkName || name == "KEYS" else { return }
        // Where the directory cannot be read, writing into it says why.
        let directory = try? PosixFileSystem().openDirectory(
            at: parentPath(of: path), create: false)
        guard try directory?.holdsWorkspace == true else { return }
        throw Failure(.usage, "\(path): is a workspace's own file: choose another path")
    }
}
