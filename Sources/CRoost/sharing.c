// What processes that share a workspace tell each other by: a lock that can be asked about without
// taking it, and words in mapped memory that a thread can wait for.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "croost.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

struct kind {
    uint32_t number;
    const char *name;
};

// All of these show a file's one page to everybody who maps it, and to calls.
static const struct kind coherent_kinds[] = {
    {0xef53, "ext4"}, {0x58465342, "xfs"}, {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"},
    {0x858458f6, "ramfs"}, {0xf2f52010, "f2fs"}, {0x794c7630, "overlay"}, {0xca451a4e, "bcachefs"},
    {0x2fc12fc1, "zfs"}, {0x3153464a, "jfs"}, {0x3434, "nilfs"}, {0x52654973, "reiserfs"},
    {0xf15f, "ecryptfs"}, {0x2011bab0, "exfat"}, {0x4d44, "vfat"}, {0x7366746e, "ntfs3"},
    {0x73717368, "squashfs"}, {0xe0f5e1e2, "erofs"}, {0x9660, "iso9660"},
};

// For the message alone.
static const struct kind other_kinds[] = {
    {0x6969, "NFS"}, {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"}, {0x517b, "SMB"},
    {0x65735546, "FUSE"}, {0x01021997, "9p"}, {0x00c36400, "Ceph"}, {0x5346414f, "AFS"},
    {0x0bd00bd0, "Lustre"}, {0x01161970, "GFS2"}, {0x7461636f, "OCFS2"}, {0x786f4256, "vboxsf"},
};

int roost_shares_memory(int directory, char kind[32]) {
    struct statfs status;
    strcpy(kind, "unknown");
    if (fstatfs(directory, &status) != 0) return 0;
    uint32_t number = (uint32_t)status.f_type;
    for (size_t i = 0; i < sizeof coherent_kinds / sizeof coherent_kinds[0]; i++)
        if (coherent_kinds[i].number == number) {
            strcpy(kind, coherent_kinds[i].name);
            return 1;
        }
    for (size_t i = 0; i < sizeof other_kinds / sizeof other_kinds[0]; i++)
        if (other_kinds[i].number == number) strcpy(kind, other_kinds[i].name);
    return 0;
}

void roost_wait_for_word(const uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
    struct timespec limit = {
        .tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
    // Not private: the waiters of other processes are found by the file's page.
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, NULL, 0);
}

void roost_wake_word(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0); }

#else

#if defined(__APPLE__)
#include <os/os_sync_wait_on_address.h>
#include <sys/mount.h>
#include <sys/param.h>

int roost_shares_memory(int directory, char kind[32]) {
    struct statfs status;
    strcpy(kind, "unknown");
    if (fstatfs(directory, &status) != 0) return 0;
    strlcpy(kind, status.f_fstypename, 32);
    return (status.f_flags & MNT_LOCAL) != 0
        && (strcmp(kind, "apfs") == 0 || strcmp(kind, "hfs") == 0);
}

void roost_wait_for_word(const uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
    os_sync_wait_on_address_with_timeout(
        (void *)word, expected, sizeof expected, OS_SYNC_WAIT_ON_ADDRESS_SHARED,
        OS_CLOCK_MACH_ABSOLUTE_TIME, nanoseconds);
}

void roost_wake_word(uint32_t *word) {
    os_sync_wake_by_address_all(word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_SHARED);
}

#else

int roost_shares_memory(int directory, char kind[32]) {
    (void)directory;
    strcpy(kind, "unknown");
    return 0;
}

void roost_wait_for_word(const uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
    // Nothing wakes it here: a short sleep, and a look.
    if (roost_load_word(word) != expected) return;
    uint64_t sleep = nanoseconds < 2000000 ? nanoseconds : 2000000;
    struct timespec limit = {.tv_sec = 0, .tv_nsec = (long)sleep};
    nanosleep(&limit, NULL);
}

void roost_wake_word(uint32_t *word) { (void)word; }

#endif
#endif

#if defined(F_OFD_SETLK)

// Of the descriptor, not of the process: it holds within one process too, and no close takes it away.
static struct flock whole_file(void) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

int roost_hold_file_lock(int descriptor) {
    struct flock lock = whole_file();
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int roost_release_file_lock(int descriptor) {
    struct flock lock = whole_file();
    lock.l_type = F_UNLCK;
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int roost_is_file_locked(int descriptor) {
    struct flock lock = whole_file();
    // To ask for a lock for writing needs no descriptor for writing.
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

#else

#include <sys/file.h>

// Asking takes it for a moment, so that whoever wants it tries for a while.
int roost_hold_file_lock(int descriptor) {
    for (int attempt = 0; attempt < 1000; attempt++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno != EWOULDBLOCK) return -1;
        struct timespec pause = {.tv_sec = 0, .tv_nsec = 100000};
        nanosleep(&pause, NULL);
    }
    errno = EAGAIN;
    return -1;
}

int roost_release_file_lock(int descriptor) { return flock(descriptor, LOCK_UN); }

int roost_is_file_locked(int descriptor) {
    if (flock(descriptor, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK ? 1 : -1;
    return flock(descriptor, LOCK_UN);
}

#endif
