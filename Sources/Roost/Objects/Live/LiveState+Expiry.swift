import RoostEngine
import RoostFormat

// Objects that expire leave results and end subscriptions as those do that are deleted. docs/decisions/0258.

extension LiveState {
    /// Notes when an object expires that results keep or that is subscribed to.
    mutating func note(_ deadline: Deadline, of key: [UInt8]) {
        if deadline == .never, deadlines.isEmpty { return }
        deadlines.set(isKnown(key) ? deadline : .never, for: key)
    }

    /// To be called where somebody has let go of an object.
    mutating func forgetDeadline(of key: [UInt8]) {
        if deadlines.isEmpty || isKnown(key) { return }
        deadlines.remove(key)
    }

    /// What has expired by `time` leaves, all of it together.
    ///
    /// All that became visible by then has to be taken before: an object that was saved with a later deadline
    /// was there all the time.
    mutating func expire(upTo time: UInt64, _ told: inout LiveTold) {
        guard deadlines.earliest().milliseconds <= time else { return }
        table.batch += 1
        while let key = deadlines.popFirst(upTo: time) {
            tellDeleted(key)
            change(key, to: nil, .never, &told)
        }
        finishBatch([], &told)
    }

    /// The earliest deadline, where it is another than at the last call.
    mutating func newEarliestDeadline() -> Deadline? {
        if deadlines.isEmpty, awaitedDeadline == .never { return nil }
        let earliest = deadlines.earliest()
        guard earliest != awaitedDeadline else { return nil }
        awaitedDeadline = earliest
        return earliest
    }
}
