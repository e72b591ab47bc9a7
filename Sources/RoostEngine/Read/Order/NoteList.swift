/// What a table has noted for its order, by the addresses of operations, and what of it is taken.
struct NoteList: Sendable {
    private(set) var isNoting = false
    private var locations: [UInt] = []
    /// How many were noted before those.
    private var begin = 0
    /// Counts how often what was noted was forgotten.
    private var epoch = 0

    private static let leastLimit = 4096

    /// Notes an operation of a table with so many keys. Where nobody has taken the notes for long, they are
    /// forgotten: the next one who wants them may as well look at everything.
    mutating func append(_ operation: UInt, keyCount: Int) {
        locations.append(operation)
        if locations.count > max(Self.leastLimit, keyCount / 2) { forget() }
    }

    mutating func forget() {
        isNoting = false
        locations = []
        begin = 0
        epoch += 1
    }

    /// Forgets all, so that what was taken of `newer` is known to be out of date too.
    mutating func forget(after newer: NoteList) {
        forget()
        epoch = newer.epoch + 1
    }

    mutating func beginNoting() { isNoting = true }

    /// What was noted so far.
    var mark: NoteMark { NoteMark(epoch: epoch, count: begin + locations.count) }

    /// Whether notes are made, and none was after `mark`.
    @inline(__always)
    func isNoted(until mark: NoteMark?) -> Bool {
        guard isNoting, let mark else { return false }
        return mark.count == begin + locations.count && mark.epoch == epoch
    }

    /// What was noted after `mark`; `nil` where some of it was forgotten.
    func behind(_ mark: NoteMark) -> [UInt]? {
        guard mark.epoch == epoch else { return nil }
        if mark.count == begin { return locations }
        return Array(locations.dropFirst(mark.count - begin))
    }

    /// Lets go of what was noted: the order has it.
    mutating func drop() {
        if locations.isEmpty { return }
        begin += locations.count
        locations = []
    }
}

/// How much of what a table has noted somebody knows.
struct NoteMark: Sendable, Equatable {
    var epoch: Int
    var count: Int
}
