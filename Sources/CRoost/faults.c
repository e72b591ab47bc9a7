#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "croost.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Invariants:
// - Guards are in one list that only grows. A guard that is given back is kept for the next mapping,
//   so the handler may walk the list at any moment, on any thread, without a lock.
// - `begin` is zero while a guard is free. It is stored last when a mapping is registered and is
//   cleared before the mapping goes, so the handler never acts on memory that is not ours.
// - What the handler notes, it notes before it puts the new page in place: whoever reads the new page
//   and asks afterwards is told.
// The handler calls mmap, mremap, munmap, madvise, pread, sigaction and pthread_sigmask, and touches
// atomics: nothing that allocates or locks.
struct roost_guard {
    struct roost_guard *next;
    // Of those that are free; under `registration`.
    struct roost_guard *next_free;
    _Atomic uintptr_t begin;
    _Atomic uintptr_t end;
    _Atomic int descriptor;
    _Atomic uint64_t replaced_count;
    // One bit for each page whose content is lost; made by the handler when the first one is.
    _Atomic(_Atomic uint8_t *) lost_pages;
};

uint64_t roost_fault_total;

static _Atomic(struct roost_guard *) guards;
static struct roost_guard *free_guards;
static pthread_mutex_t registration = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t installation = PTHREAD_ONCE_INIT;
static struct sigaction earlier;
static size_t page_size;
static int is_installed;

static size_t bitmap_size(uintptr_t begin, uintptr_t end) {
    return ((end - begin + page_size - 1) / page_size + 7) / 8;
}

static struct roost_guard *guard_of(uintptr_t address) {
    struct roost_guard *guard = atomic_load_explicit(&guards, memory_order_acquire);
    for (; guard; guard = guard->next) {
        uintptr_t begin = atomic_load_explicit(&guard->begin, memory_order_acquire);
        if (!begin || address < begin) continue;
        uintptr_t end = atomic_load_explicit(&guard->end, memory_order_acquire);
        // Between the two looks it may have been given back and taken for another mapping.
        if (address < end && atomic_load_explicit(&guard->begin, memory_order_relaxed) == begin)
            return guard;
    }
    return NULL;
}

static int note_lost_page(struct roost_guard *guard, size_t page) {
    uintptr_t begin = atomic_load_explicit(&guard->begin, memory_order_relaxed);
    uintptr_t end = atomic_load_explicit(&guard->end, memory_order_relaxed);
    _Atomic uint8_t *bits = atomic_load_explicit(&guard->lost_pages, memory_order_acquire);
    if (!bits) {
        size_t size = bitmap_size(begin, end);
        void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) return 0;
        _Atomic uint8_t *expected = NULL;
        if (atomic_compare_exchange_strong(&guard->lost_pages, &expected, (_Atomic uint8_t *)made)) {
            bits = (_Atomic uint8_t *)made;
        } else {
            munmap(made, size);
            bits = expected;
        }
    }
    atomic_fetch_or(&bits[page / 8], (uint8_t)(1u << (page % 8)));
    return 1;
}

// From the so many-th page of a mapping on, its neighbours that cannot be had are given up with it. Before
// that a look at them may cost more than it is worth: a disk takes seconds to give up a block.
static const uint64_t few_pages = 64;

// Whether the page at `address` can be had, as far as the kernel tells.
static int can_be_had(uintptr_t address) {
#if defined(__linux__)
    // MADV_POPULATE_READ, of Linux 5.14: EFAULT where a look would send SIGBUS.
    return madvise((void *)address, page_size, 22) == 0 || errno != EFAULT;
#else
    (void)address;
    return 1;
#endif
}

// Puts private zeros in the place of the page at `address`, whose content is lost, and of what follows and
// precedes it that cannot be had either. The kernel allows a process so many mappings (65,530 as a rule) and each
// page in private memory may be one; zeros that are put in place next to each other are one together.
static int give_up_pages(struct roost_guard *guard, uintptr_t address) {
    uintptr_t begin = atomic_load_explicit(&guard->begin, memory_order_relaxed);
    uintptr_t end = atomic_load_explicit(&guard->end, memory_order_relaxed);
    uintptr_t first = address & ~(uintptr_t)(page_size - 1);
    uintptr_t last = first + page_size;
    if (atomic_load(&guard->replaced_count) >= few_pages) {
        while (last < end && !can_be_had(last)) last += page_size;
        while (first > begin && !can_be_had(first - page_size)) first -= page_size;
    }
    for (uintptr_t page = first; page < last; page += page_size)
        if (!note_lost_page(guard, (page - begin) / page_size)) return 0;
    uint64_t count = (last - first) / page_size;
    atomic_fetch_add(&guard->replaced_count, count);
    __atomic_fetch_add(&roost_fault_total, count, __ATOMIC_SEQ_CST);
    void *placed = mmap(
        (void *)first, last - first, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return placed != MAP_FAILED;
}

// Puts private memory in the place of the page at `address`: with the file's content, where the file
// can be read by a call, else with zeros. Returns whether the access may be tried again.
static int replace_page(struct roost_guard *guard, uintptr_t address) {
    int descriptor = atomic_load_explicit(&guard->descriptor, memory_order_relaxed);
    if (descriptor < 0) return give_up_pages(guard, address);
    uintptr_t begin = atomic_load_explicit(&guard->begin, memory_order_relaxed);
    uintptr_t end = atomic_load_explicit(&guard->end, memory_order_relaxed);
    uintptr_t page_begin = address & ~(uintptr_t)(page_size - 1);
    size_t offset = page_begin - begin;
    size_t wanted = end - page_begin < page_size ? end - page_begin : page_size;
    char *page = mmap(
        NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 0;
    size_t done = 0;
    while (done < wanted) {
        ssize_t count = pread(descriptor, page + done, wanted - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += (size_t)count;
    }
    if (done == 0) {
        munmap(page, page_size);
        return give_up_pages(guard, address);
    }
    if (done < wanted && !note_lost_page(guard, offset / page_size)) {
        munmap(page, page_size);
        return 0;
    }
    atomic_fetch_add(&guard->replaced_count, 1);
    __atomic_fetch_add(&roost_fault_total, 1, __ATOMIC_SEQ_CST);
#if defined(__linux__)
    if (mremap(page, page_size, page_size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)page_begin)
        == MAP_FAILED) {
        munmap(page, page_size);
        return 0;
    }
    return 1;
#else
    // Another thread may see zeros for a moment, but is told of the fault when it asks.
    void *placed = mmap(
        (void *)page_begin, page_size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (placed != MAP_FAILED) memcpy(placed, page, page_size);
    munmap(page, page_size);
    return placed != MAP_FAILED;
#endif
}

// Hands on what is not ours, as if we were not there.
static void call_earlier(int number, siginfo_t *info, void *context) {
    if (earlier.sa_flags & SA_SIGINFO ? earlier.sa_sigaction != NULL
                                      : earlier.sa_handler != SIG_DFL
                && earlier.sa_handler != SIG_IGN) {
        sigset_t before;
        pthread_sigmask(SIG_BLOCK, &earlier.sa_mask, &before);
        if (earlier.sa_flags & SA_SIGINFO)
            earlier.sa_sigaction(number, info, context);
        else
            earlier.sa_handler(number);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return;
    }
    int is_sent = info->si_code <= 0;
    if (is_sent && !(earlier.sa_flags & SA_SIGINFO) && earlier.sa_handler == SIG_IGN) return;
    // A fault happens again when this returns, and then ends the process as it would have. A
    // signal that somebody sent does not come back, so it is sent again.
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigaction(number, &standard, NULL);
    if (is_sent) raise(number);
}

static void handle(int number, siginfo_t *info, void *context) {
    int saved = errno;
    // A code above zero is the kernel's: a fault of this thread, with its address.
    struct roost_guard *guard = info->si_code > 0 ? guard_of((uintptr_t)info->si_addr) : NULL;
    if (!guard || !replace_page(guard, (uintptr_t)info->si_addr))
        call_earlier(number, info, context);
    errno = saved;
}

static void install(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    // Known before ours can be called.
    if (sigaction(SIGBUS, NULL, &earlier) != 0) return;
    is_installed = sigaction(SIGBUS, &action, NULL) == 0;
}

roost_guard *roost_guard_mapping(void *base, size_t length, int descriptor) {
    pthread_once(&installation, install);
    if (!is_installed) return NULL;
    pthread_mutex_lock(&registration);
    struct roost_guard *guard = free_guards;
    if (guard) {
        free_guards = guard->next_free;
    } else {
        guard = calloc(1, sizeof *guard);
        if (guard) {
            guard->next = atomic_load_explicit(&guards, memory_order_relaxed);
            atomic_store_explicit(&guards, guard, memory_order_release);
        }
    }
    if (guard) {
        atomic_store_explicit(&guard->descriptor, descriptor, memory_order_relaxed);
        atomic_store_explicit(&guard->replaced_count, 0, memory_order_relaxed);
        // After `begin` was cleared, to whoever sees it: the handler then finds `begin` changed.
        atomic_store_explicit(&guard->end, (uintptr_t)base + length, memory_order_release);
        atomic_store_explicit(&guard->begin, (uintptr_t)base, memory_order_release);
    }
    pthread_mutex_unlock(&registration);
    return guard;
}

void roost_unguard_mapping(roost_guard *guard) {
    pthread_mutex_lock(&registration);
    uintptr_t begin = atomic_load_explicit(&guard->begin, memory_order_relaxed);
    uintptr_t end = atomic_load_explicit(&guard->end, memory_order_relaxed);
    atomic_store_explicit(&guard->begin, 0, memory_order_release);
    _Atomic uint8_t *bits = atomic_exchange(&guard->lost_pages, NULL);
    if (bits) munmap((void *)bits, bitmap_size(begin, end));
    guard->next_free = free_guards;
    free_guards = guard;
    pthread_mutex_unlock(&registration);
}

uint64_t roost_guard_replaced_count(const roost_guard *guard) {
    return atomic_load(&((roost_guard *)guard)->replaced_count);
}

int64_t roost_guard_first_lost(const roost_guard *guard, size_t offset, size_t length) {
    _Atomic uint8_t *bits = atomic_load(&((roost_guard *)guard)->lost_pages);
    if (!bits || length == 0) return -1;
    size_t last = (offset + length - 1) / page_size;
    for (size_t page = offset / page_size; page <= last; page++) {
        uint8_t byte = atomic_load_explicit(&bits[page / 8], memory_order_relaxed);
        if (byte == 0) {
            page |= 7;
            continue;
        }
        if (byte >> (page % 8) & 1) {
            size_t begin = page * page_size;
            return (int64_t)(begin > offset ? begin : offset);
        }
    }
    return -1;
}
