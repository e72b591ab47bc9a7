// C shims: what Swift cannot say, or not fast enough. State have the handler of SIGBUS (faults.c), what is known of the processor (crc32c.c) and the sampling (sample.c).
#ifndef CROOST_H
#define CROOST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// CRC-32C (Castagnoli) of `length` bytes, continuing from `crc`; begin with any seed.
/// SSE4.2 or ARMv8 instructions where the processor that it runs on has them, a table otherwise; all give
/// the same result. The seed is inverted on entry and exit, so CRCs can be chained.
uint32_t roost_crc32c(uint32_t crc, const void *bytes, size_t length);

/// Writes zeros that the compiler does not leave out.
void roost_wipe(void *bytes, size_t length);

/// The portable form, for comparing with the hardware's.
uint32_t roost_crc32c_table(uint32_t crc, const void *bytes, size_t length);

/// Whether `roost_crc32c` goes by the processor's instruction.
int roost_has_crc32c_instruction(void);

/// Asks for the cache line at `address` ahead of its use.
static inline void roost_prefetch(const void *address) { __builtin_prefetch(address); }

/// Looks at the byte at `address`, whatever becomes of it.
static inline void roost_touch(const void *address) { (void)*(const volatile char *)address; }

static inline int roost_compare(const void *left, const void *right, size_t length) {
    return memcmp(left, right, length);
}

/// Numbers that may begin at any address, in the processor's order of bytes.
static inline uint32_t roost_unaligned_32(const void *address) {
    uint32_t number;
    memcpy(&number, address, sizeof number);
    return number;
}

static inline uint64_t roost_unaligned_64(const void *address) {
    uint64_t number;
    memcpy(&number, address, sizeof number);
    return number;
}

/// Whether all of `length` bytes, one at least, are zeros.
static inline int roost_is_zero(const void *bytes, size_t length) {
    const unsigned char *first = (const unsigned char *)bytes;
    return *first == 0 && memcmp(first, first + 1, length - 1) == 0;
}

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Which of the sixteen little-endian numbers of four bytes at `line` are `wanted` where `mask`
/// has bits: bit 0 for the first.
static inline uint32_t roost_matches(const void *line, uint32_t wanted, uint32_t mask) {
    uint32_t matches = 0;
#if defined(__SSE2__)
    const __m128i wide_mask = _mm_set1_epi32((int)mask), wide_wanted = _mm_set1_epi32((int)wanted);
    for (int quarter = 0; quarter < 4; quarter++) {
        const __m128i words = _mm_loadu_si128((const __m128i *)line + quarter);
        const __m128i equal = _mm_cmpeq_epi32(_mm_and_si128(words, wide_mask), wide_wanted);
        matches |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal)) << (4 * quarter);
    }
#else
    for (int place = 0; place < 16; place++) {
        uint32_t word;
        memcpy(&word, (const char *)line + 4 * place, 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap32(word);
#endif
        matches |= (uint32_t)((word & mask) == wanted) << place;
    }
#endif
    return matches;
}

/// How many of `length` bytes are zero before the first that is not.
size_t roost_leading_zeros(const void *bytes, size_t length);

/// How many of `length` bytes are zero after the last that is not.
size_t roost_trailing_zeros(const void *bytes, size_t length);

/// Brings the pages of `length` bytes at `address`, a page's begin, into the page table, writable;
/// where the system cannot, nothing changes.
void roost_prefault(void *address, size_t length);

/// Reserves blocks for the first `size` bytes of a file, and makes it that long; zero or an error number,
/// `EOPNOTSUPP` where the file system has no such thing. `is_kept` says that blocks stay where they are,
/// so that the call may write to each of them instead.
int roost_preallocate(int descriptor, int64_t size, int is_kept);

/// Whether what was preallocated of a file in `directory` can be written to whatever else fills the disk:
/// known by the file system's kind, and of one that is not known by a file that is written to and taken
/// away again, which takes two syncs.
int roost_keeps_preallocation(int directory);

/// Brings all of the file system that `descriptor` is on to disk; negative with `errno` where that fails.
int roost_sync_file_system(int descriptor);

/// Gives what is at each of two paths the name of the other, in one step; zero, or negative with `errno`,
/// which is `EINVAL`, `ENOSYS` or `ENOTSUP` where the system or the file system cannot.
int roost_exchange_names(const char *one, const char *other);

/// The offset after the last byte that was ever written of a file of `size` bytes, or a larger
/// one; `size` where the system does not say.
int64_t roost_written_end(int descriptor, int64_t size);

/// A mapping of a file whose pages may turn out not to be there: the file was cut by somebody else,
/// the disk cannot read a block, or has none left for a page that is written to.
typedef struct roost_guard roost_guard;

/// Registers `length` bytes at `base`, a page's begin, which show a file from its begin on. From here on
/// a SIGBUS in them puts private memory in the place of the page: with what a read of `descriptor` gives,
/// where that is not negative and can be read, else with zeros. The first call installs the handler,
/// which hands every other SIGBUS on to the handler that was there before. The descriptor stays open as
/// long as the guard. `NULL` where that cannot be had; a SIGBUS then goes where it would have gone.
roost_guard *roost_guard_mapping(void *base, size_t length, int descriptor);

/// To be called before the mapping goes, when nobody touches its memory any more.
void roost_unguard_mapping(roost_guard *guard);

/// How many pages were replaced. What is stored into one of them does not reach the file.
uint64_t roost_guard_replaced_count(const roost_guard *guard);

/// The first of `length` bytes from `offset` on whose content is lost, so that zeros stand there; -1
/// where there is none.
int64_t roost_guard_first_lost(const roost_guard *guard, size_t offset, size_t length);

/// Pages replaced in all mappings since the process began, and doubts that were noted (`roost_note_doubt`). Read by `roost_fault_count` alone.
extern uint64_t roost_fault_total;

/// As many as whoever read or wrote mapped memory before this call may have met.
static inline uint64_t roost_fault_count(void) {
    // What was read before is read before the count, by the compiler and by the processor.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&roost_fault_total, __ATOMIC_RELAXED);
}

/// Non-zero for one call in 128 of each thread, at random.
int roost_takes_sample(void);

/// Has `roost_fault_count` go up: something was read that cannot be what was written.
static inline void roost_note_doubt(void) {
    __atomic_fetch_add(&roost_fault_total, 1, __ATOMIC_RELAXED);
}

/// Whether what one process stores into a mapped file of this directory's file system another one sees
/// at once: zero for what is shared over a network or kept by another process, and for what is not
/// known. `kind` gets a name for it of at most 31 characters.
int roost_shares_memory(int directory, char kind[32]);

/// Locks the file at `descriptor` for as long as that is open; zero, or negative with `errno`, which is
/// `EAGAIN` where another descriptor holds it. To ask for it, and to close another descriptor of the file,
/// takes nothing from whoever holds it.
int roost_hold_file_lock(int descriptor);

/// Gives it back; zero, or negative with `errno`.
int roost_release_file_lock(int descriptor);

/// Whether another descriptor holds the lock: 1 or 0, or negative with `errno`.
int roost_is_file_locked(int descriptor);

/// A word in memory that several processes map.
static inline uint32_t roost_load_word(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}
static inline void roost_increment_word(uint32_t *word) {
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}
static inline uint64_t roost_load_number(const uint64_t *number) {
    return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}
static inline void roost_store_number(uint64_t *number, uint64_t value) {
    __atomic_store_n(number, value, __ATOMIC_SEQ_CST);
}

/// Blocks while the word, in memory that shows a file, is `expected`: until it is changed and
/// `roost_wake_word` called, in any process, for `nanoseconds` at the most, or for no reason at all.
void roost_wait_for_word(const uint32_t *word, uint32_t expected, uint64_t nanoseconds);

/// Lets all go on that wait for the word.
void roost_wake_word(uint32_t *word);

/// Starts a thread that runs `body` and ends; zero where the system has none. Of the name 15 bytes are kept; a stack of zero
/// bytes has the system's size.
int roost_start_thread(
    const char *name, size_t stack_size, void (*body)(void *), void *context);

/// Lets the calling thread give way to others; where the system cannot, nothing changes.
void roost_lower_thread_priority(void);

/// Has the calling thread wait for a processor that nobody uses, or for its turn, where it would take the place of a thread
/// that runs once it is woken; where the system cannot, nothing changes.
void roost_let_others_finish(void);

/// Has malloc keep for the process what is freed, where it would give it back to the kernel: for
/// programs that take and free the same again and again.
void roost_keep_freed_memory(void);

#define ROOST_ROTATE(x, b) (((x) << (b)) | ((x) >> (64 - (b))))
#define ROOST_SIP_ROUND                                                                           \
    do {                                                                                          \
        v0 += v1; v1 = ROOST_ROTATE(v1, 13); v1 ^= v0; v0 = ROOST_ROTATE(v0, 32);                 \
        v2 += v3; v3 = ROOST_ROTATE(v3, 16); v3 ^= v2;                                            \
        v0 += v3; v3 = ROOST_ROTATE(v3, 21); v3 ^= v0;                                            \
        v2 += v1; v1 = ROOST_ROTATE(v1, 17); v1 ^= v2; v2 = ROOST_ROTATE(v2, 32);                 \
    } while (0)

/// A key's hash, and what a second one is made of.
typedef struct {
    uint64_t hash, v0, v1, v2, v3;
} roost_key_hash;

/// SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) of `length`
/// bytes under the 128-bit key `k0`, `k1`. Inline, because it stands before every put and get.
static inline roost_key_hash roost_hash_key(
    uint64_t k0, uint64_t k1, const void *bytes, size_t length) {
    const uint8_t *p = (const uint8_t *)bytes;
    uint64_t v0 = k0 ^ 0x736f6d6570736575ULL, v1 = k1 ^ 0x646f72616e646f6dULL;
    uint64_t v2 = k0 ^ 0x6c7967656e657261ULL, v3 = k1 ^ 0x7465646279746573ULL;
    uint64_t word;
    size_t left = length;
    for (; left >= 8; left -= 8, p += 8) {
        memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        v3 ^= word;
        ROOST_SIP_ROUND;
        v0 ^= word;
    }
    word = (uint64_t)(length & 0xff) << 56;
    switch (left) {
    case 7: word |= (uint64_t)p[6] << 48; /* fall through */
    case 6: word |= (uint64_t)p[5] << 40; /* fall through */
    case 5: word |= (uint64_t)p[4] << 32; /* fall through */
    case 4: word |= (uint64_t)p[3] << 24; /* fall through */
    case 3: word |= (uint64_t)p[2] << 16; /* fall through */
    case 2: word |= (uint64_t)p[1] << 8; /* fall through */
    case 1: word |= (uint64_t)p[0]; /* fall through */
    default: break;
    }
    v3 ^= word;
    ROOST_SIP_ROUND;
    v0 ^= word;
    v2 ^= 0xff;
    ROOST_SIP_ROUND;
    ROOST_SIP_ROUND;
    ROOST_SIP_ROUND;
    return (roost_key_hash) {v0 ^ v1 ^ v2 ^ v3, v0, v1, v2, v3};
}

static inline uint64_t roost_siphash13(
    uint64_t k0, uint64_t k1, const void *bytes, size_t length) {
    return roost_hash_key(k0, k1, bytes, length).hash;
}

/// Another 64 bits, made as the reference code of SipHash makes the second half of 128.
static inline uint64_t roost_second_hash(roost_key_hash key) {
    uint64_t v0 = key.v0, v1 = key.v1 ^ 0xdd, v2 = key.v2, v3 = key.v3;
    ROOST_SIP_ROUND;
    ROOST_SIP_ROUND;
    ROOST_SIP_ROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}

#endif
