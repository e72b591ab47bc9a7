import RoostEngine

/// A query's objects, some at a time, as they are asked for, of one moment. Where the first of them are not
/// all and only a sort or a look at all entries puts them in order, the keys of the others are in memory.
public struct QueryObjects<Item: Identifiable & Sendable>: AsyncSequence, Sendable
where Item.ID: Sendable {
    public typealias Element = Item
    let query: Query<Item>

    /// Reads the objects one piece after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// What is still to be read.
        private enum Rest {
            case everything
            /// In the order of the keys, which a scan goes on in.
            case behind(PageCursor)
            /// The keys of the others, from a place on.
            case keys([[UInt8]], from: Int)
            case nothing
        }

        private let query: Query<Item>
        private var view: ReadView?
        private var rest = Rest.everything
        private var items: [Item] = []
        private var place = 0
        private var remaining: Int

        private static var pieceCount: Int { 256 }

        fileprivate init(_ query: Query<Item>) {
            self.query = query
            remaining = query.limitCount ?? .max
        }

        /// - Throws: as ``Query/fetch()``; `.cancelled`.
        public mutating func next() async throws -> Item? {
            try checkCancellation()
            while place == items.count {
                if case .nothing = rest { return nil }
                try readOn()
            }
            defer { place += 1 }
            return items[place]
        }

        private mutating func readOn() throws {
            let view = try self.view ?? query.repository.dictionary.workspace.readView()
            self.view = view
            place = 0
            items = []
            switch rest {
            case .nothing: break
            case .everything: try readPage(after: nil, view)
            case .behind(let cursor):
                if try query.isScannedByKeys(view.engineView) {
                    try readPage(after: cursor, view)
                } else {
                    // The first piece came as a page, which may end early; another would read it again.
                    let keys = try query.keys(behind: cursor, limit: remaining, view)
                    rest = .keys(keys, from: 0)
                    try readObjects(keys, from: 0, view)
                }
            case .keys(let keys, let first): try readObjects(keys, from: first, view)
            }
            if case .nothing = rest { view.close() }
        }

        private mutating func readPage(after cursor: PageCursor?, _ view: ReadView) throws {
            var query = query
            query.limitCount = nil
            let limit = Swift.min(Self.pieceCount, remaining)
            guard limit > 0 else {
                rest = .nothing
                return
            }
            var source = ViewSource(view: view.engineView)
            let page = try query.page(after: cursor, limit: limit, &source)
            items = page.items
            remaining -= items.count
            rest = .nothing
            if let next = page.next, remaining > 0 { rest = .behind(next) }
        }

        private mutating func readObjects(
            _ keys: [[UInt8]], from first: Int, _ view: ReadView
        ) throws {
            let end = Swift.min(keys.count, first + Self.pieceCount)
            items = try query.objects(keys[first..<end], view.engineView)
            rest = end < keys.count ? .keys(keys, from: end) : .nothing
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(query) }
}

extension Query {
    /// Whether the matches come by a scan in the order of the keys, which goes on where it ended.
    func isScannedByKeys(_ view: EngineView) throws -> Bool {
        guard keyOrder != nil else { return false }
        var query = self
        query.limitCount = nil
        var source = ViewSource(view: view)
        let run = try QueryRun(query, &source)
        if case .scan = run.plan.access { return true }
        return false
    }

    /// The keys of what is after a cursor, in order.
    func keys(behind cursor: PageCursor, limit: Int, _ view: ReadView) throws -> [[UInt8]] {
        var query = self
        // As the page had none that the cursor is of.
        query.limitCount = nil
        query = try query.behind(cursor)
        var source = ViewSource(view: view.engineView)
        let keys = try query.keysInOrder(&source)
        return limit < keys.count ? Array(keys.prefix(limit)) : keys
    }

    /// The keys of all matches, in order, and no object longer than it is looked at.
    func keysInOrder<Source: ObjectSource & ~Copyable>(_ source: inout Source) throws -> [[UInt8]] {
        var run = try QueryRun(self, &source)
        return try keysInOrder(&run, &source)
    }

    func keysInOrder<Source: ObjectSource & ~Copyable>(
        _ run: inout QueryRun<Item>, _ source: inout Source
    ) throws -> [[UInt8]] {
        if let keys = try matchesOfAttempt(&run, &source, { key, _ in key }) { return Array(keys) }
        var keys: [[UInt8]] = []
        if run.isOrdered {
            try forEach(&run, &source) { key, _ in keys.append(key) }
            return keys
        }
        var first = FirstOfOrder<Int>(count: lookedAtCount)
        try run.forEachMatch(&source) { key, item in
            let place = withUnsafePointer(to: item) { sortKey($0, key) }
            if let cursor, !bytes(cursor, precede: place) { return true }
            first.add(key.count, place)
            return true
        }
        let places = first.sorted()
        keys.reserveCapacity(places.count)
        for (place, keyCount) in places.dropFirst(offsetCount) {
            // A place ends in the key.
            keys.append(Array(place.suffix(keyCount)))
        }
        return keys
    }

    /// The objects with these keys, which are matches.
    func objects(_ keys: ArraySlice<[UInt8]>, _ view: EngineView) throws -> [Item] {
        var source = ViewSource(view: view)
        var run = try QueryRun(self, view)
        var items: [Item] = []
        items.reserveCapacity(keys.count)
        for key in keys { if let item = try run.object(key, &source) { items.append(item) } }
        return items
    }
}
