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

/// Reserves the blocks of the first `sizeBytes` of an empty file, and makes it that long where that worked;
/// zero, or the number of the error, `EOPNOTSUPP` where the file system has no such call. `isKept` says that
/// a block stays where it was reserved.
func preallocateBlocks(_ descriptor: Int32, sizeBytes: UInt64, isKept: Bool) -> Int32 {
    #if canImport(Darwin)
        var request = fstore_t(
            fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
            fst_length: off_t(sizeBytes), fst_bytesalloc: 0)
        guard fcntl(descriptor, F_PREALLOCATE, &request) >= 0 else {
            return errno == ENOTSUP ? EOPNOTSUPP : errno
        }
        // The blocks are the file's, and its length is still to be said.
        return ftruncate(descriptor, off_t(sizeBytes)) < 0 ? errno : 0
    #else
        return roost_preallocate(descriptor, Int64(sizeBytes), isKept ? 1 : 0)
    #endif
}
