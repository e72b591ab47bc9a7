#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "croost.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

int roost_preallocate(int descriptor, int64_t size, int is_kept) {
    if (fallocate(descriptor, 0, 0, (off_t)size) == 0) return 0;
    // Writes to every block where the file system has no such call: of use only where they stay.
    if (errno == EOPNOTSUPP && is_kept) return posix_fallocate(descriptor, 0, (off_t)size);
    return errno;
}

// File systems that write a block where it stands, or in memory: what was preallocated stays.
enum {
    ext_kind = 0xef53,
    xfs_kind = 0x58465342,
    tmpfs_kind = 0x01021994,
    jfs_kind = 0x3153464a,
};

// File systems that write a changed block elsewhere, or that promise nothing at all.
enum {
    btrfs_kind = 0x9123683e,
    bcachefs_kind = 0xca451a4e,
    zfs_kind = 0x2fc12fc1,
    f2fs_kind = 0xf2f52010,
    nilfs_kind = 0x3434,
    nfs_kind = 0x6969,
    smb_kind = 0xff534d42,
    smb2_kind = 0xfe534d42,
    ceph_kind = 0x00c36400,
    fuse_kind = 0x65735546,
    nine_p_kind = 0x01021997,
};

// Where the first block of a file stands on the disk; zero where the file system does not say, or
// where other files share it.
static uint64_t place_of_first_block(int file) {
    uint64_t memory[(sizeof(struct fiemap) + sizeof(struct fiemap_extent)) / sizeof(uint64_t)];
    memset(memory, 0, sizeof memory);
    struct fiemap *request = (struct fiemap *)memory;
    request->fm_length = 1;
    request->fm_extent_count = 1;
    request->fm_flags = FIEMAP_FLAG_SYNC;
    if (ioctl(file, FS_IOC_FIEMAP, request) != 0 || request->fm_mapped_extents != 1) return 0;
    uint32_t unclear = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_SHARED
        | FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_ENCODED;
    const struct fiemap_extent *extent = request->fm_extents;
    return extent->fe_flags & unclear ? 0 : extent->fe_physical;
}

// Preallocates a block, writes it twice, and looks whether it stays where it is.
static int probe(int directory) {
    static const char name[] = ".roost-probe";
    // One that an opening left that was killed.
    (void)unlinkat(directory, name, 0);
    int file = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return 0;
    (void)unlinkat(directory, name, 0);
    char block[4096];
    memset(block, 1, sizeof block);
    uint64_t places[3] = {0, 0, 0};
    int is_made = fallocate(file, 0, 0, sizeof block) == 0;
    if (is_made) places[0] = place_of_first_block(file);
    for (int turn = 1; is_made && turn < 3; turn++) {
        block[0] = (char)turn;
        is_made = pwrite(file, block, sizeof block, 0) == (ssize_t)sizeof block
            && fdatasync(file) == 0;
        if (is_made) places[turn] = place_of_first_block(file);
    }
    close(file);
    return is_made && places[0] != 0 && places[0] == places[1] && places[1] == places[2];
}

int roost_sync_file_system(int descriptor) { return syncfs(descriptor); }

int roost_exchange_names(const char *one, const char *other) {
    // Not every C library has a function for this call.
    return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int roost_keeps_preallocation(int directory) {
    struct statfs status;
    if (fstatfs(directory, &status) != 0) return 0;
    switch ((uint32_t)status.f_type) {
    case ext_kind:
    case xfs_kind:
    case tmpfs_kind:
    case jfs_kind: return 1;
    case btrfs_kind:
    case bcachefs_kind:
    case zfs_kind:
    case f2fs_kind:
    case nilfs_kind:
    case nfs_kind:
    case smb_kind:
    case smb2_kind:
    case ceph_kind:
    case fuse_kind:
    case nine_p_kind: return 0;
    default: return probe(directory);
    }
}

#else

int roost_preallocate(int descriptor, int64_t size, int is_kept) {
    (void)is_kept;
#if defined(__APPLE__)
    (void)descriptor;
    (void)size;
    return EOPNOTSUPP;
#else
    return posix_fallocate(descriptor, 0, (off_t)size);
#endif
}

int roost_sync_file_system(int descriptor) {
    (void)descriptor;
    sync();
    return 0;
}

#if defined(__APPLE__)
#include <stdio.h>
#include <sys/mount.h>

int roost_exchange_names(const char *one, const char *other) {
    return renamex_np(one, other, RENAME_SWAP);
}

// Those that have F_PREALLOCATE. Both write a block where it stands, unless a copy of the file shares it.
int roost_keeps_preallocation(int directory) {
    struct statfs status;
    if (fstatfs(directory, &status) != 0) return 0;
    return strcmp(status.f_fstypename, "apfs") == 0 || strcmp(status.f_fstypename, "hfs") == 0;
}
#else
int roost_exchange_names(const char *one, const char *other) {
    (void)one;
    (void)other;
    errno = ENOSYS;
    return -1;
}

int roost_keeps_preallocation(int directory) {
    (void)directory;
    return 1;
}
#endif
#endif
