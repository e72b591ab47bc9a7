import Foundation
import RoostIO
import Synchronization
import Testing

/// Returns when it is written, by another thread, without the caller's actor being idle meanwhile. The thread is none of
/// the pool, of which the caller holds one.
func writeElsewhere(_ write: @escaping @Sendable () async throws -> Void) {
    let written = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: elsewhere.forTasks) {
        do { try await write() } catch { Issue.record(error) }
        written.signal()
    }
    written.wait()
}

private let elsewhere = WorkerThread(name: "roost-test")

/// Writes numbers beside the main actor until the closure is called, which returns the last one.
func beginWriting(
    _ write: @escaping @Sendable (_ number: Int) async throws -> Void
) -> () async throws -> Int {
    let isEnded = Flag()
    let writer = Task.detached {
        var number = 0
        repeat {
            number += 1
            try await write(number)
            if number % 8 == 0 { await Task.yield() }
        } while !isEnded.value.load(ordering: .relaxed)
        return number
    }
    return {
        isEnded.value.store(true, ordering: .relaxed)
        return try await writer.value
    }
}

private final class Flag: Sendable {
    let value = Atomic<Bool>(false)
}
