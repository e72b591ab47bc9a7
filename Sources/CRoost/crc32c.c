// CRC-32C by the processor's instruction, three streams side by side for longer input (the
// instruction has a latency of three cycles and a throughput of one), or by a table. Which of the two is
// found out when the process begins: the same program runs on processors with and without it.
#include "croost.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define MAY_HAVE_INSTRUCTION 1
#endif

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#define POLYNOMIAL 0x82f63b78u
#define SHORT_BLOCK 128
#define LONG_BLOCK 1024

static uint32_t byte_table[256];
static uint32_t short_shift[4][256]; // advances a CRC over SHORT_BLOCK zero bytes
static uint32_t long_shift[4][256];
static int has_instruction;

static void fill_shift(uint32_t table[4][256], size_t zero_bytes) {
    for (int lane = 0; lane < 4; lane++) {
        for (uint32_t n = 0; n < 256; n++) {
            uint32_t crc = n << (8 * lane);
            for (size_t i = 0; i < zero_bytes; i++) crc = byte_table[crc & 0xff] ^ (crc >> 8);
            table[lane][n] = crc;
        }
    }
}

static int processor_has_instruction(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__aarch64__) && defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname("hw.optional.armv8_crc32", &value, &size, NULL, 0) == 0 && value != 0;
#elif defined(__ARM_FEATURE_CRC32)
    return 1;
#else
    return 0;
#endif
}

__attribute__((constructor)) static void prepare(void) {
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t crc = n;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
        byte_table[n] = crc;
    }
    fill_shift(short_shift, SHORT_BLOCK);
    fill_shift(long_shift, LONG_BLOCK);
    has_instruction = processor_has_instruction();
}

int roost_has_crc32c_instruction(void) { return has_instruction; }

uint32_t roost_crc32c_table(uint32_t crc, const void *bytes, size_t length) {
    const uint8_t *p = (const uint8_t *)bytes;
    crc = ~crc;
    while (length--) crc = byte_table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
    return ~crc;
}

#if defined(MAY_HAVE_INSTRUCTION)

#if defined(__x86_64__)
#include <nmmintrin.h>
#define INSTRUCTION __attribute__((target("sse4.2")))
#define STEP8(crc, word) _mm_crc32_u64((crc), (word))
#define STEP4(crc, word) _mm_crc32_u32((crc), (word))
#define STEP2(crc, word) _mm_crc32_u16((crc), (word))
#define STEP1(crc, byte) _mm_crc32_u8((crc), (byte))
#else
#include <arm_acle.h>
#define INSTRUCTION __attribute__((target("+crc")))
#define STEP8(crc, word) __crc32cd((uint32_t)(crc), (word))
#define STEP4(crc, word) __crc32cw((crc), (word))
#define STEP2(crc, word) __crc32ch((crc), (word))
#define STEP1(crc, byte) __crc32cb((crc), (byte))
#endif

static inline uint64_t load8(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

static inline uint32_t load4(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, 4);
    return word;
}

static inline uint16_t load2(const uint8_t *p) {
    uint16_t word;
    memcpy(&word, p, 2);
    return word;
}

static inline uint32_t shift(uint32_t table[4][256], uint32_t crc) {
    return table[0][crc & 0xff] ^ table[1][(crc >> 8) & 0xff] ^ table[2][(crc >> 16) & 0xff]
        ^ table[3][crc >> 24];
}

INSTRUCTION static inline uint32_t three_streams(
    uint32_t crc, const uint8_t *p, size_t block, uint32_t table[4][256]) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < block; i += 8) {
        a = STEP8(a, load8(p + i));
        b = STEP8(b, load8(p + block + i));
        c = STEP8(c, load8(p + 2 * block + i));
    }
    return shift(table, shift(table, (uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
}

// Most calls are for one cache line: no loop over single bytes.
INSTRUCTION static inline uint32_t the_rest(uint32_t crc, const uint8_t *p, size_t length) {
    uint64_t wide = crc;
    for (; length >= 32; p += 32, length -= 32) {
        wide = STEP8(wide, load8(p));
        wide = STEP8(wide, load8(p + 8));
        wide = STEP8(wide, load8(p + 16));
        wide = STEP8(wide, load8(p + 24));
    }
    for (; length >= 8; p += 8, length -= 8) wide = STEP8(wide, load8(p));
    crc = (uint32_t)wide;
    if (length & 4) {
        crc = STEP4(crc, load4(p));
        p += 4;
    }
    if (length & 2) {
        crc = STEP2(crc, load2(p));
        p += 2;
    }
    return length & 1 ? STEP1(crc, *p) : crc;
}

INSTRUCTION static uint32_t by_instruction(uint32_t seed, const uint8_t *p, size_t length) {
    uint32_t crc = ~seed;
    for (; length >= 3 * LONG_BLOCK; p += 3 * LONG_BLOCK, length -= 3 * LONG_BLOCK)
        crc = three_streams(crc, p, LONG_BLOCK, long_shift);
    for (; length >= 3 * SHORT_BLOCK; p += 3 * SHORT_BLOCK, length -= 3 * SHORT_BLOCK)
        crc = three_streams(crc, p, SHORT_BLOCK, short_shift);
    return ~the_rest(crc, p, length);
}
#endif

uint32_t roost_crc32c(uint32_t crc, const void *bytes, size_t length) {
#if defined(MAY_HAVE_INSTRUCTION)
    if (has_instruction) return by_instruction(crc, (const uint8_t *)bytes, length);
#endif
    return roost_crc32c_table(crc, bytes, length);
}
