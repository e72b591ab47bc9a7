// What the thread sanitizer must say nothing about, and what it must report: run before the tests,
// since a run that can report nothing proves nothing. With the argument `race`, two threads add to
// one variable, each under a lock of its own.

import Foundation
import Synchronization

final class Counter: @unchecked Sendable {
    let one = Mutex(())
    let other = Mutex(())
    var total = 0
}

let isRace = CommandLine.arguments.contains("race")
let counter = Counter()
let threads = (0..<2).map { index in
    Thread {
        for _ in 0..<200_000 {
            if isRace && index == 1 {
                counter.other.withLock { _ in counter.total += 1 }
            } else {
                counter.one.withLock { _ in counter.total += 1 }
            }
        }
    }
}
for thread in threads { thread.start() }
while threads.contains(where: { !$0.isFinished }) { Thread.sleep(forTimeInterval: 0.01) }
counter.one.withLock { _ in print(counter.total) }
