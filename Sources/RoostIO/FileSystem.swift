/// The seam to the operating system. Everything above works on these protocols, so that a
/// simulated file system can stand under the whole engine.
///
/// Every call may block and is made off the cooperative thread pool or is short. Failures throw
/// `RoostError` (`.io`, `.outOfSpace`, `.locked`) with the path; nothing is retried above.
package protocol FileSystem: Sendable {
    /// Opens the directory at `path`. With `create`, it and its missing parents are made, mode
    /// 0700, and their entries are synced.
    func openDirectory(at path: String, create: Bool) throws -> any Directory
    /// Removes a directory that is empty, and brings that to disk.
    func removeDirectory(at path: String) throws
    /// The threads and timers of what is opened on it.
    var scheduling: any Scheduling { get }
}

extension FileSystem {
    /// For one that has no directories in directories.
    package func removeDirectory(at path: String) throws {
        throw RoostError(.io, "this file system removes no directories", file: path)
    }

    package var scheduling: any Scheduling { SystemScheduling() }
}

/// One open directory. File names are single path components.
package protocol Directory: Sendable {
    var path: String { get }
    /// Locks the directory until the handle goes away or the process ends; `.locked` where
    /// another opening, here or in another process, holds it. Where this process has let go of the workspace and still
    /// works on it (`noteLeft`), it is waited for, for as long as `patience`.
    func lock(exclusive: Bool, patience: Duration) throws
    /// Gives the lock back before the handle goes away.
    func unlock() throws
    /// Says that nobody uses the directory any more, and that the handle goes away once what still works on it has ended:
    /// who locks the directory again in this process waits for that.
    func noteLeft()
    /// What is in the directory, unordered, without `.` and `..`.
    func entries() throws -> [DirectoryEntry]
    /// Creates a file with mode 0600; fails where the name exists.
    func createFile(_ name: String) throws -> any File
    /// Opens an existing regular file; symbolic links are refused.
    func openFile(_ name: String, writable: Bool) throws -> any File
    /// Replaces `target` atomically.
    func rename(_ source: String, to target: String) throws
    func remove(_ name: String) throws
    /// Makes the file called `name` in `other` a file of this directory too, by the same name; `false`
    /// where the two directories cannot share files.
    func link(_ name: String, from other: any Directory) throws -> Bool
    /// Returns once creations, renames and removals in this directory are on disk.
    func sync() throws
    /// Returns once the directory's own name is on disk, and the names of those that it is in: whoever
    /// made it may not have seen to that. Costs a sync for each of them.
    func syncAncestors() throws
    /// Which file has a name, so that another one in its place is seen; `nil` where that cannot be told, or there is
    /// none.
    func identity(of name: String) throws -> FileIdentity?
    /// Whether another directory stands at `path` now. `false` where none does: this one was moved, and who holds it
    /// open goes on.
    func isReplaced() throws -> Bool
    /// Whether readers can follow a writer in this directory.
    var sharing: MemorySharing { get throws }
    /// For salts and identifiers: the system's random numbers, unless a simulation, which has
    /// to run again as it ran, gives its own.
    func randomNumber() -> UInt64
}

/// What an opening sees of what another one, in another process too, writes to the same files.
package enum MemorySharing: Sendable, Hashable {
    /// All of it at once, by calls and where a file is mapped.
    case mapped
    /// All of it by calls, and of the page of signals where it is mapped; another mapping for reading is of the
    /// moment in which it was made.
    case called
    /// Nobody knows: a file system of this kind.
    case unknown(String)
}

/// A file, as it was when it was asked for.
package struct FileIdentity: Sendable, Hashable {
    package var device: UInt64
    package var number: UInt64
    /// When its content was changed last, in nanoseconds since 1970: numbers are given again.
    package var changeNanoseconds: Int64

    package init(device: UInt64, number: UInt64, changeNanoseconds: Int64) {
        self.device = device
        self.number = number
        self.changeNanoseconds = changeNanoseconds
    }
}

extension Directory {
    /// With the patience of a caller whose thread is somebody's: a main actor's, say.
    package func lock(exclusive: Bool) throws {
        try lock(exclusive: exclusive, patience: .seconds(2))
    }

    /// For one that nobody else can change.
    package func identity(of name: String) throws -> FileIdentity? { nil }

    /// For one that nobody else can move.
    package func isReplaced() throws -> Bool { false }

    package func noteLeft() {}

    package var sharing: MemorySharing { get throws { .unknown("memory") } }

    /// For one whose files have one name each.
    package func link(_ name: String, from other: any Directory) throws -> Bool { false }

    /// For one that cannot be lost by itself.
    package func syncAncestors() throws {}

    package func randomNumber() -> UInt64 { .random(in: .min ... .max) }

    /// A random number that is not zero.
    package func randomSalt() -> UInt32 { UInt32(truncatingIfNeeded: randomNumber()) | (1 << 31) }
}

/// What sealed files begin with, which are read through the file system that seals them.
package let sealedFileMagic = Array("ROOSTENC".utf8)

package struct DirectoryEntry: Sendable {
    package var name: String
    package var isRegularFile: Bool

    package init(name: String, isRegularFile: Bool) {
        self.name = name
        self.isRegularFile = isRegularFile
    }
}

/// One open file, closed when the last reference goes.
package protocol File: Sendable {
    var path: String { get }
    func sizeBytes() throws -> UInt64
    /// Fills `buffer` from `offset`; a file that ends before is an error.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws
    /// Fills as much of `buffer` from `offset` as the file has there; how much.
    func readUp(to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int
    /// Locks the file until the handle goes away or the process ends; `.locked` where another handle
    /// holds it.
    func holdLock() throws
    func releaseLock() throws
    /// Whether another handle holds the lock, of which asking takes nothing.
    func isLocked() throws -> Bool
    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws
    /// Reserves disk blocks for `[0, sizeBytes)` and sets the size.
    func preallocate(sizeBytes: UInt64) throws
    func truncate(to sizeBytes: UInt64) throws
    /// An offset after which nothing was ever written, so that all reads as zeros up to the file's
    /// end; at the most its size. To be asked before anything is read: a page of zeros that was
    /// read may count as written.
    func writtenEnd() throws -> UInt64
    /// Returns once the file's content and size are on disk, changes through mappings included.
    func syncData() throws
    /// Asks the system to forget what it keeps of the file in memory, so that the next read comes from
    /// the disk. A hint; to be given after `syncData`.
    func forgetCached()
    /// Maps the first `sizeBytes` bytes, shared; `nil` where mapping is not to be had.
    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion?
    /// Zeroed memory for who writes a file that is not mapped from its begin on, and reads it there. Advice on the
    /// memory concerns what is written to the file too.
    func memory(sizeBytes: Int) -> MappedRegion
}

extension File {
    package func readUp(
        to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws -> Int {
        let size = try sizeBytes()
        let count = min(buffer.count, Int(size - min(size, offset)))
        if count > 0 { try read(into: .init(rebasing: buffer[..<count]), at: offset) }
        return count
    }

    // For files that one opening alone can have.
    package func holdLock() throws {}
    package func releaseLock() throws {}
    package func isLocked() throws -> Bool { false }

    /// For one that is nowhere else than in memory.
    package func forgetCached() {}

    package func writtenEnd() throws -> UInt64 { try sizeBytes() }

    package func memory(sizeBytes: Int) -> MappedRegion { .anonymous(sizeBytes: sizeBytes) }

    /// Reads `count` bytes from `offset`.
    package func read(count: Int, at offset: UInt64) throws -> [UInt8] {
        var failure: (any Error)?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do {
                try read(
                    into: .init(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]),
                    at: offset)
                initialized = count
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// The whole file as memory: mapped where that can be had, else read.
    package func contents(sizeBytes: Int) throws -> MappedRegion {
        if let region = try map(sizeBytes: sizeBytes, writable: false) { return region }
        let region = try MappedRegion.anonymous(sizeBytes: sizeBytes, for: path)
        try read(into: .init(start: region.base, count: sizeBytes), at: 0)
        return region
    }
}
