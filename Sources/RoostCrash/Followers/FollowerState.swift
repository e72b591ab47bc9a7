import Synchronization

/// What a reader has seen, over all of its openings: a later one sees as much at least.
final class FollowerState: Sendable {
    let report = Mutex(FollowerReport())
    private let newest = Mutex<UInt64>(0)
    private let newestObject = Mutex<UInt64>(0)

    func noteView(_ numbers: [UInt64]) {
        report.withLock { $0.viewCount += 1 }
        if Set(numbers).count > 1 {
            report.withLock { report in
                report.tornCount += 1
                report.problems.append("a view of a batch by half: \(numbers)")
            }
        }
        for number in numbers { noteLook(number) }
    }

    func noteLook(_ number: UInt64) {
        let before = newest.withLock { newest in
            defer { newest = max(newest, number) }
            return newest
        }
        report.withLock { report in
            report.lookCount += 1
            guard number < before else { return }
            report.staleCount += 1
            report.problems.append("\(number) behind \(before)")
        }
    }

    func noteQuery(_ numbers: [UInt64]) {
        report.withLock { report in
            report.queryCount += 1
            guard
                Set(numbers).count > 1
                    || (!numbers.isEmpty && numbers.count != FollowedPlan.objectCount)
            else { return }
            report.tornCount += 1
            report.problems.append("a query of a batch by half: \(numbers)")
        }
        // The objects are never removed: none at all is of before the first.
        let number = numbers.first ?? 0
        let before = newestObject.withLock { newest in
            defer { newest = max(newest, number) }
            return newest
        }
        guard number < before else { return }
        report.withLock { report in
            report.staleCount += 1
            report.problems.append("the objects of \(number) behind those of \(before)")
        }
    }

    func noteChange(lagNanoseconds: UInt64) {
        report.withLock { report in
            report.changeCount += 1
            report.addLag(nanoseconds: lagNanoseconds)
        }
    }

    /// A watcher was not told what it has to be, or not in order.
    func noteUntold(_ text: String) {
        report.withLock { report in
            report.untoldCount += 1
            report.problems.append(text)
        }
    }

    func noteProblem(_ text: String) {
        report.withLock { report in
            report.errorCount += 1
            report.problems.append(text)
        }
    }

    func note(_ error: any Error) { noteProblem("\(error)") }
}
