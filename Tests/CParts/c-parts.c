// Checks the C parts by themselves, so that they can be built for a processor that no Swift toolchain here
// builds for, and run in emulation: scripts/platforms.
//
//     c-parts SEED [with-instruction | without-instruction]
#define _GNU_SOURCE
#include "croost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(SAYS_NOTHING)
// In the place of the C library's, by the linker's --wrap.
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type) {
    (void)type;
    return 0;
}
#endif

static int check_count;

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        check_count++;                                                                            \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "c-parts: FAILED at line %d: %s (errno %d)\n", __LINE__, #condition,  \
                errno);                                                                           \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

static uint64_t random_state;

// xorshift64*: the same numbers everywhere.
static uint64_t next_random(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1dULL;
}

static uint8_t bytes[20000];

static void check_checksums(void) {
    CHECK(roost_crc32c(0, "123456789", 9) == 0xe3069283u);
    CHECK(roost_crc32c_table(0, "123456789", 9) == 0xe3069283u);
    uint8_t block[32];
    memset(block, 0, sizeof block);
    CHECK(roost_crc32c(0, block, sizeof block) == 0x8a9136aau);
    memset(block, 255, sizeof block);
    CHECK(roost_crc32c(0, block, sizeof block) == 0x62a8ab43u);
    for (size_t length = 0; length < 7000; length++) {
        size_t offset = next_random() % 64;
        uint32_t seed = (uint32_t)next_random();
        CHECK(roost_crc32c(seed, bytes + offset, length)
            == roost_crc32c_table(seed, bytes + offset, length));
    }
    for (int turn = 0; turn < 100; turn++) {
        size_t cut = next_random() % sizeof bytes;
        uint32_t first = roost_crc32c(7, bytes, cut);
        CHECK(roost_crc32c(first, bytes + cut, sizeof bytes - cut)
            == roost_crc32c(7, bytes, sizeof bytes));
    }
}

static void check_hashes(void) {
    // As Rust's standard library tests SipHash-1-3: the key is 0 to 15.
    uint64_t first = 0x0706050403020100ULL, second = 0x0f0e0d0c0b0a0908ULL;
    CHECK(roost_siphash13(first, second, "", 0) == 0xabac0158050fc4dcULL);
    // Every length, at every alignment, as bytes that stand aligned.
    for (size_t length = 0; length < 200; length++) {
        uint64_t aligned[32];
        for (size_t offset = 0; offset < 8; offset++) {
            memcpy(aligned, bytes + offset, length);
            CHECK(roost_siphash13(first, second, bytes + offset, length)
                == roost_siphash13(first, second, aligned, length));
        }
    }
}

static void check_lines(void) {
    for (int turn = 0; turn < 2000; turn++) {
        uint8_t line[64];
        for (size_t place = 0; place < sizeof line; place++) line[place] = (uint8_t)next_random();
        uint32_t mask = 0xffffffffu << (next_random() % 32), wanted = (uint32_t)next_random() & mask;
        for (int place = 0; place < 16; place++) {
            if (next_random() % 3) continue;
            uint32_t word = wanted | ((uint32_t)next_random() & ~mask);
            for (int lane = 0; lane < 4; lane++) line[4 * place + lane] = (uint8_t)(word >> (8 * lane));
        }
        uint32_t expected = 0;
        for (int place = 0; place < 16; place++) {
            uint32_t word = 0;
            for (int lane = 0; lane < 4; lane++) word |= (uint32_t)line[4 * place + lane] << (8 * lane);
            expected |= (uint32_t)((word & mask) == wanted) << place;
        }
        CHECK(roost_matches(line, wanted, mask) == expected);
    }
}

static void check_zeros(void) {
    static uint8_t mostly[3 * 4096 + 17];
    CHECK(roost_leading_zeros(mostly, sizeof mostly) == sizeof mostly);
    CHECK(roost_trailing_zeros(mostly, sizeof mostly) == sizeof mostly);
    for (int turn = 0; turn < 500; turn++) {
        size_t place = next_random() % sizeof mostly;
        mostly[place] = 1;
        CHECK(roost_leading_zeros(mostly, sizeof mostly) == place);
        CHECK(roost_trailing_zeros(mostly, sizeof mostly) == sizeof mostly - place - 1);
        mostly[place] = 0;
    }
}

static int make_file(size_t size) {
    char name[] = "c-parts-XXXXXX";
    int file = mkstemp(name);
    CHECK(file >= 0);
    CHECK(unlink(name) == 0);
    CHECK(ftruncate(file, (off_t)size) == 0);
    return file;
}

static void check_files(size_t page) {
    int file = make_file(0);
    int kept = roost_keeps_preallocation(AT_FDCWD) != 0;
    int number = roost_preallocate(file, (int64_t)(4 * page), kept);
    CHECK(number == 0 || number == EOPNOTSUPP);
    if (number == 0) CHECK(lseek(file, 0, SEEK_END) == (off_t)(4 * page));
    CHECK(ftruncate(file, (off_t)(4 * page)) == 0);
    CHECK(pwrite(file, "x", 1, (off_t)page) == 1);
    int64_t end = roost_written_end(file, (int64_t)(4 * page));
    CHECK(end >= (int64_t)page + 1 && end <= (int64_t)(4 * page));
    CHECK(roost_sync_file_system(file) == 0);
    close(file);
    void *memory = mmap(
        NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    roost_prefault(memory, 8 * page);
    CHECK(roost_leading_zeros(memory, 8 * page) == 8 * page);
    munmap(memory, 8 * page);
    roost_lower_thread_priority();
    roost_keep_freed_memory();
}

// A file is cut under its mapping: the lost pages read as zeros, and the guard says which they are.
static void check_faults(size_t page) {
    int file = make_file(4 * page);
    for (size_t place = 0; place < 4 * page; place += page / 2)
        CHECK(pwrite(file, "abcd", 4, (off_t)place) == 4);
    uint8_t *base = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, file, 0);
    CHECK(base != MAP_FAILED);
    roost_guard *guard = roost_guard_mapping(base, 4 * page, -1);
    CHECK(guard != NULL);
    CHECK(base[3 * page] == 'a' && roost_guard_replaced_count(guard) == 0);
    uint64_t before = roost_fault_count();
    CHECK(ftruncate(file, (off_t)page) == 0);
    CHECK(base[0] == 'a');
    CHECK(((volatile uint8_t *)base)[2 * page] == 0);
    CHECK(roost_fault_count() > before && roost_guard_replaced_count(guard) == 1);
    CHECK(roost_guard_first_lost(guard, 0, 4 * page) == (int64_t)(2 * page));
    CHECK(roost_guard_first_lost(guard, 0, 2 * page) == -1);
    CHECK(((volatile uint8_t *)base)[page + 1] == 0);
    CHECK(roost_guard_first_lost(guard, 0, 4 * page) == (int64_t)page);
    CHECK(roost_guard_replaced_count(guard) == 2 && base[0] == 'a');
    roost_unguard_mapping(guard);
    munmap(base, 4 * page);
    close(file);
}

int main(int argument_count, char **arguments) {
    random_state = argument_count > 1 ? strtoull(arguments[1], NULL, 10) | 1 : 1;
    const char *wanted = argument_count > 2 ? arguments[2] : "";
    int has_instruction = roost_has_crc32c_instruction();
    if (strcmp(wanted, "with-instruction") == 0) CHECK(has_instruction);
    if (strcmp(wanted, "without-instruction") == 0) CHECK(!has_instruction);
    for (size_t place = 0; place < sizeof bytes; place++) bytes[place] = (uint8_t)next_random();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    check_checksums();
    check_hashes();
    check_lines();
    check_zeros();
    check_files(page);
    check_faults(page);
    printf("c-parts: %d checks passed: pages of %zu bytes, CRC-32C by %s\n", check_count, page,
        has_instruction ? "the instruction" : "the table");
    return 0;
}
