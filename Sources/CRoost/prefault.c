#include "croost.h"

#if defined(__linux__)
#include <sys/mman.h>

// Since Linux 5.14; earlier kernels refuse it, which is as good as not asking.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void roost_prefault(void *address, size_t length) {
    (void)madvise(address, length, MADV_POPULATE_WRITE);
}

#else
void roost_prefault(void *address, size_t length) {
    (void)address;
    (void)length;
}
#endif
