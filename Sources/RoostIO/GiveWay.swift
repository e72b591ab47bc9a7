#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// Lets a thread that waits for this processor have it: for long work in the background, some
/// thousand times a second. The scheduler would by itself look at its clock only every few
/// milliseconds, and so long would a caller be kept that shares the processor with such work.
///
/// A system call, of a few tenths of a microsecond where nobody waits.
package func giveWay() { sched_yield() }
