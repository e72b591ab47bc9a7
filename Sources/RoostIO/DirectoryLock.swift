#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// The lock on a workspace: `flock` on the directory itself.
///
/// The kernel drops it with the last copy of the descriptor, so a killed process leaves none
/// after. A child process has a copy until it runs a program of its own, so who lets a directory go
/// unlocks it. It belongs to the open directory, so a second opening in the same process is refused
/// too; and it needs no file, so that opening for reading only changes nothing.
enum DirectoryLock {
    static func acquire(descriptor: Int32, exclusive: Bool, path: String) throws {
        while flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw systemError(errno, "lock", path) }
            throw RoostError(
                .locked, "another opening of this workspace is active; close it first", file: path)
        }
    }

    static func release(descriptor: Int32, path: String) throws {
        _ = try retryingInterrupts("unlock", path) { flock(descriptor, LOCK_UN) }
    }
}
