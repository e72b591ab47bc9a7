/// The result of one live query: what of it is of the type of its objects.
final class LiveResult<Item: Identifiable & Sendable>: AnyLiveResult where Item.ID: Sendable {
    let query: Query<Item>
    let outlet: LiveOutlet<Item>

    init(
        _ id: UInt64, _ query: Query<Item>, _ order: LiveOrder<Item>, _ outlet: LiveOutlet<Item>
    ) {
        self.query = query
        self.outlet = outlet
        let condition = query.condition
        super.init(
            id, order, LiveWindow(query), wantsPositions: outlet.wantsPositions,
            { query.storedCondition },
            { object in try condition.matches(object.assumingMemoryBound(to: Item.self)) })
    }

    var items: [Item] {
        var items: [Item] = []
        items.reserveCapacity(count)
        forEachShown { items.append($0.of(Item.self).item) }
        return items
    }

    /// Tells the reader what changed.
    func tell(_ change: PlacesChange, _ wakes: inout [LiveWake]) {
        outlet.push(change.change(of: Item.self), resultCount: count, &wakes)
    }
}
