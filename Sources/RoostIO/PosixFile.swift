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

/// A file descriptor that is closed when the last reference goes.
final class PosixFile: File {
    let path: String
    private let descriptor: Int32
    private let options: PosixFileSystem.Options
    /// Whether a page of a preallocated file, once mapped, can always be written to.
    private let keepsPreallocation: Bool

    init(
        path: String, descriptor: Int32, options: PosixFileSystem.Options, keepsPreallocation: Bool
    ) {
        self.path = path
        self.descriptor = descriptor
        self.options = options
        self.keepsPreallocation = keepsPreallocation
    }

    deinit { close(descriptor) }

    func refuseUnlessRegular() throws {
        guard try status().st_mode & S_IFMT == S_IFREG else {
            throw RoostError(.io, "not a regular file: remove it from the workspace", file: path)
        }
    }

    func sizeBytes() throws -> UInt64 { UInt64(try status().st_size) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try retryingInterrupts("read", path) {
                pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            guard count > 0 else {
                throw RoostError(
                    .corrupt, "the file ends early", file: path, offset: offset + UInt64(done))
            }
            done += count
        }
    }

    func readUp(to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try retryingInterrupts("read", path) {
                pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    func holdLock() throws {
        while roost_hold_file_lock(descriptor) != 0 {
            let number = errno
            if number == EINTR { continue }
            guard number == EAGAIN || number == EACCES else {
                throw systemError(number, "lock", path)
            }
            throw RoostError(.locked, "another opening of this workspace is active", file: path)
        }
    }

    func releaseLock() throws {
        _ = try retryingInterrupts("unlock", path) { roost_release_file_lock(descriptor) }
    }

    func isLocked() throws -> Bool {
        try retryingInterrupts("look at the lock of", path) { roost_is_file_locked(descriptor) } > 0
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            done += try retryingInterrupts("write", path) {
                pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
        }
    }

    func preallocate(sizeBytes: UInt64) throws {
        while true {
            let number = preallocateBlocks(
                descriptor, sizeBytes: sizeBytes, isKept: keepsPreallocation)
            if number == 0 { return }
            // Each frame is written by a call then, and its size is all that the file needs.
            if number == EOPNOTSUPP && !keepsPreallocation { return try truncate(to: sizeBytes) }
            if number != EINTR { throw systemError(number, "preallocate", path) }
        }
    }

    func truncate(to sizeBytes: UInt64) throws {
        _ = try retryingInterrupts("truncate", path) { ftruncate(descriptor, off_t(sizeBytes)) }
    }

    func writtenEnd() throws -> UInt64 {
        UInt64(roost_written_end(descriptor, Int64(try status().st_size)))
    }

    func syncData() throws {
        _ = try retryingInterrupts("sync", path) { syncFileContent(descriptor) }
    }

    func forgetCached() {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android)
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        #endif
    }

    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? {
        guard options.allowsMapping, sizeBytes > 0 else { return nil }
        if writable && !keepsPreallocation { return nil }
        let protection = writable ? PROT_READ | PROT_WRITE : PROT_READ
        let base = mmap(nil, sizeBytes, protection, MAP_SHARED, descriptor, 0)
        guard let base, base != MAP_FAILED else {
            let number = errno
            // These say that this file system or kernel does not map; the caller has another way.
            if number == ENODEV || number == EINVAL || number == EACCES || number == EOPNOTSUPP {
                return nil
            }
            throw systemError(number, "map", path)
        }
        let guarding =
            options.handlesFaults
            ? roost_guard_mapping(base, sizeBytes, writable ? descriptor : -1) : nil
        return MappedRegion(
            base: base, sizeBytes: sizeBytes, path: path, guardedBy: guarding,
            // Hints: where the kernel does not take one, it is slower and nothing else.
            advise: { advice, base, size in
                switch advice {
                case .dropPages: _ = madvise(base, size, MADV_DONTNEED)
                case .readsAreRandom: _ = madvise(base, size, MADV_RANDOM)
                case .willBeReadWhole: _ = madvise(base, size, MADV_WILLNEED)
                case .willBeWritten: roost_prefault(base, size)
                }
            },
            // The guard of what is written to reads by the descriptor.
            release: { [kept = writable ? self : nil] base, size in
                munmap(base, size)
                withExtendedLifetime(kept) {}
            })
    }

    private func status() throws -> stat {
        var status = stat()
        _ = try retryingInterrupts("look at", path) { fstat(descriptor, &status) }
        return status
    }
}
