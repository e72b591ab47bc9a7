#include "croost.h"

// Compared by blocks, as the C library's comparison uses the widest registers there are.
enum { block = 4096 };
static const uint8_t zeros[block];

size_t roost_leading_zeros(const void *bytes, size_t length) {
    const uint8_t *p = (const uint8_t *)bytes;
    size_t count = 0;
    while (length - count >= block && memcmp(p + count, zeros, block) == 0) count += block;
    while (count < length && p[count] == 0) count++;
    return count;
}

size_t roost_trailing_zeros(const void *bytes, size_t length) {
    const uint8_t *p = (const uint8_t *)bytes;
    size_t left = length;
    while (left >= block && memcmp(p + left - block, zeros, block) == 0) left -= block;
    while (left > 0 && p[left - 1] == 0) left--;
    return length - left;
}
