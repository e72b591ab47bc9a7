import RoostEngine

/// What came during a read, until it is known what that looks at.
///
/// - Of more than `mostEvents` it is only known of which dictionaries they were: who reads long beside many writes would
///   keep all of these, and have their writers wait while they are compared.
struct PendingEvents {
    private static let mostEvents = 4_096

    private var parts: [(dictionary: [UInt8], events: [WatchEvent])] = []
    private var count = 0

    init() {}

    /// Those that came at once, to be compared at once.
    init(_ events: [WatchEvent], of dictionary: [UInt8]) { parts = [(dictionary, events)] }

    mutating func add(_ events: [WatchEvent], of dictionary: [UInt8]) {
        if count > Self.mostEvents {
            if !parts.contains(where: { $0.dictionary == dictionary }) { addMissed(dictionary) }
            return
        }
        parts.append((dictionary, events))
        count += events.count
        guard count > Self.mostEvents else { return }
        let dictionaries = Set(parts.map(\.dictionary))
        parts = []
        for dictionary in dictionaries { addMissed(dictionary) }
    }

    private mutating func addMissed(_ dictionary: [UInt8]) {
        parts.append((dictionary, [WatchEvent(content: .missed(0))]))
    }

    /// Whether they may be about what was looked at.
    func touch(_ seen: SeenReads) -> Bool {
        parts.contains { seen.isTouched(by: $0.events, of: $0.dictionary) }
    }
}
