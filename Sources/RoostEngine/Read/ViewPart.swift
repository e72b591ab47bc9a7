import RoostIO

/// What a view holds of one shard, which changes no more.
final class ViewPart: Sendable {
    /// Above all else; visible, and without a place among the changes yet.
    let enqueued: LogTable?
    let frozen: LogTable?
    let cold: ColdHold
    let clears: [[UInt8]: UInt64]
    /// Of the table that the shard wrote to.
    let activeOrder: KeyOrder
    /// Keeps the memory mapped that the active table pointed into.
    private let regions: RegionList

    /// The memory of the log that has `location`, where one of the view's operations stands.
    func region(of location: UInt) -> MappedRegion? {
        regions.region(of: location) ?? frozen?.regions.region(of: location)
            ?? enqueued?.regions.region(of: location)
    }

    /// Whether a view that begins now would hold the same. While a table is frozen, or put back, none
    /// is kept from before.
    fileprivate func isCurrent(_ state: borrowing ShardState) -> Bool {
        enqueued == nil && state.enqueued == nil && cold === state.cold
            && regions === state.active.regions && activeOrder === state.active.order
            && clears == state.clears
    }

    init(_ state: borrowing ShardState, hidesEnqueued: Bool = false) {
        enqueued = hidesEnqueued ? nil : state.enqueued?.table
        frozen = state.frozen
        cold = state.cold
        clears = state.clears
        activeOrder = state.active.order
        regions = state.active.regions
    }
}

/// What a view is made of, while it goes from shard to shard.
struct BegunView {
    var parts: [ViewPart] = []
    var cold = ColdStorage.none
    var isLogEmpty = true
    /// How many enqueued writes had been given up before.
    let givenUpCount: Int

    init(givenUpCount: Int) { self.givenUpCount = givenUpCount }

    mutating func add(_ part: ViewPart, _ state: borrowing ShardState) {
        if part.cold.storage.generation > cold.generation { cold = part.cold.storage }
        if part.frozen != nil || part.enqueued != nil || !state.active.isEmpty {
            isLogEmpty = false
        }
        parts.append(part)
    }
}

extension ShardState {
    /// What a view that begins now holds; the last one's where nothing has changed.
    mutating func currentViewPart(hidesEnqueued: Bool) -> ViewPart {
        if let viewPart, viewPart.isCurrent(self) { return viewPart }
        let part = ViewPart(self, hidesEnqueued: hidesEnqueued)
        viewPart = part.enqueued == nil ? part : nil
        return part
    }
}
