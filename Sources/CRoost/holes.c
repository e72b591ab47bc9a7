#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "croost.h"

#include <errno.h>
#include <unistd.h>

// Only where pages that were changed through a mapping, and are not on disk yet, are known to count
// as data. A file with more pieces than this is not looked through.
enum { most_pieces = 1024 };

int64_t roost_written_end(int descriptor, int64_t size) {
#if defined(__linux__) && defined(SEEK_DATA)
    off_t end = 0;
    for (int piece = 0; piece < most_pieces; piece++) {
        off_t data = lseek(descriptor, end, SEEK_DATA);
        if (data < end) return data == -1 && errno == ENXIO ? (int64_t)end : size;
        end = lseek(descriptor, data, SEEK_HOLE);
        if (end <= data) break;
    }
#else
    (void)descriptor;
#endif
    return size;
}
