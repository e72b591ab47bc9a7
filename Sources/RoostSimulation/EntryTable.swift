/// The names in a simulated directory: as they are on disk, as calls see them, and the changes
/// between the two, of which a power cut keeps any.
struct EntryTable: Sendable {
    enum Change: Sendable {
        case link(String, Int)
        case move(String, to: String, Int)
        case unlink(String, Int)
    }

    private var durable: [String: Int] = [:]
    private(set) var volatile: [String: Int] = [:]
    private var pending: [Change] = []

    init() {}

    init(onDisk entries: [String: Int]) {
        durable = entries
        volatile = entries
    }

    mutating func make(_ change: Change) {
        Self.apply(change, to: &volatile)
        pending.append(change)
    }

    mutating func sync() {
        durable = volatile
        pending = []
    }

    /// Each change since the last sync is kept or lost by itself, but those that are kept take
    /// effect in order. A rename is kept whole or not at all.
    func afterPowerCut(_ choices: inout some CrashChoices) -> EntryTable {
        var entries = durable
        for change in pending {
            if choices.pick(2) == 1 {
                Self.apply(change, to: &entries)
            } else {
                choices.effects.vanishedEntries += 1
            }
        }
        return EntryTable(onDisk: entries)
    }

    private static func apply(_ change: Change, to entries: inout [String: Int]) {
        switch change {
        case .link(let name, let inode): entries[name] = inode
        case .move(let source, let target, let inode):
            // Where the change that gave the file its old name was lost, it has only the new one.
            if entries[source] == inode { entries[source] = nil }
            entries[target] = inode
        case .unlink(let name, let inode):
            if entries[name] == inode { entries[name] = nil }
        }
    }
}
