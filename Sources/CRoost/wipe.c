#include "croost.h"

#include <string.h>

void roost_wipe(void *bytes, size_t length) {
    if (length == 0) { return; }
    memset(bytes, 0, length);
    // The compiler must take the memory for read after this, and so cannot leave the zeros out.
    __asm__ __volatile__("" : : "r"(bytes) : "memory");
}
