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
    private let allowsMapping: Bool

    init(path: String, descriptor: Int32, allowsMapping: Bool) {
        self.path = path
        self.descriptor = descriptor
        self.allowsMapping = allowsMapping
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
        #if canImport(Darwin)
            var request = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
                fst_length: off_t(sizeBytes), fst_bytesalloc: 0)
            _ = try retryingInterrupts("preallocate", path) {
                fcntl(descriptor, F_PREALLOCATE, &request)
            }
            try truncate(to: sizeBytes)
        #else
            while true {
                let number = posix_fallocate(descriptor, 0, off_t(sizeBytes))
                if number == 0 { return }
                if number != EINTR { throw systemError(number, "preallocate", path) }
            }
        #endif
    }

    func truncate(to sizeBytes: UInt64) throws {
        _ = try retryingInterrupts("truncate", path) { ftruncate(descriptor, off_t(sizeBytes)) }
    }

    func writtenEnd() throws -> UInt64 {
        UInt64(roost_written_end(descriptor, Int64(try status().st_size)))
    }

    func syncData() throws {
        #if canImport(Darwin)
            _ = try retryingInterrupts("sync", path) { fcntl(descriptor, F_FULLFSYNC) }
        #else
            _ = try retryingInterrupts("sync", path) { fdatasync(descriptor) }
        #endif
    }

    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? {
        guard allowsMapping, sizeBytes > 0 else { return nil }
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
        return MappedRegion(
            base: base, sizeBytes: sizeBytes,
            // Hints: where the kernel does not take one, it is slower and nothing else.
            advise: { advice, base, size in
                switch advice {
                case .dropPages: _ = madvise(base, size, MADV_DONTNEED)
                case .readsAreRandom: _ = madvise(base, size, MADV_RANDOM)
                case .willBeReadWhole: _ = madvise(base, size, MADV_WILLNEED)
                case .willBeWritten: roost_prefault(base, size)
                }
            },
            release: { base, size in munmap(base, size) })
    }

    private func status() throws -> stat {
        var status = stat()
        _ = try retryingInterrupts("look at", path) { fstat(descriptor, &status) }
        return status
    }
}
