// Tells the thread sanitizer what a contended Synchronization.Mutex orders.
//
// An uncontended lock is an atomic exchange within the code that takes it, which the sanitizer sees.
// A contended one is handed over by the kernel (FUTEX_LOCK_PI), called from the standard library,
// which is not instrumented: what one holder wrote then looks unordered with what the next one
// reads. Preloaded into a test run, this stands before the three calls of the slow path and states
// the missing acquire and release. The calls themselves are the library's own.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Weak: programs without the sanitizer start with this preloaded, too (swift test itself).
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

static SWIFT void (*library_lock)(uint32_t, SELF);
static SWIFT bool (*library_try_lock)(SELF);
static SWIFT void (*library_unlock)(SELF);

__attribute__((constructor)) static void find_library(void) {
    library_lock = dlsym(RTLD_NEXT, LOCK);
    library_try_lock = dlsym(RTLD_NEXT, TRY_LOCK);
    library_unlock = dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lock_slow(uint32_t thread, SELF) {
    library_lock(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT bool try_lock_slow(SELF) {
    bool is_locked = library_try_lock(handle);
    if (is_locked && __tsan_acquire) __tsan_acquire(handle);
    return is_locked;
}

SWIFT void unlock_slow(SELF) {
    if (__tsan_release) __tsan_release(handle);
    library_unlock(handle);
}
