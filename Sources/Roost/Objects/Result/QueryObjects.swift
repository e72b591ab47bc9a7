import RoostEngine
import RoostFormat

/// A query's objects, some at a time, as they are asked for, of one moment. Where the first of them are not
/// all and only a sort puts them in order, keys of the others are in memory, as many as the memory budget has room
/// for; the keys of all are where it takes a look at all entries of an index. An object that expires before its turn is
/// not given.
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
            /// The keys of the others, or of the next of them, from a place on; and what they are the keys of.
            case keys(SortedKeys, from: Int, of: Query<Item>)
            case nothing
        }

        private let query: Query<Item>
        private var view: ReadView?
        private var rest = Rest.everything
        private var items: [Item] = []
        /// When each of `items` expires; empty where none does.
        private var deadlines: [Deadline] = []
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
            while true {
                while place == items.count {
                    if case .nothing = rest { return nil }
                    try readOn()
                }
                defer { place += 1 }
                // It may have expired while it waited its turn.
                if deadlines.isEmpty || clock.isLive(deadlines[place]) { return items[place] }
            }
        }

        private var clock: ExpiryClock { query.repository.dictionary.workspace.engine.clock }

        private mutating func readOn() throws {
            let view = try self.view ?? query.repository.dictionary.workspace.readView()
            self.view = view
            place = 0
            items = []
            deadlines = []
            switch rest {
            case .nothing: break
            case .everything: try readPage(after: nil, view)
            case .behind(let cursor):
                if try query.isScannedByKeys(view.engineView) {
                    try readPage(after: cursor, view)
                } else {
                    // The first piece came as a page, which may end early; another would read it again.
                    try readKeys(query.rest(behind: cursor, limit: remaining), view)
                }
            case .keys(let keys, let first, let query):
                try readObjects(keys, from: first, of: query, view)
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
            var source = ExpirySource(view.engineView)
            let page = try query.keyedPage(after: cursor, limit: limit, &source)
            try take(page.found, from: source)
            remaining -= items.count
            rest = .nothing
            if let next = page.next, remaining > 0 { rest = .behind(next) }
        }

        private mutating func readKeys(_ query: Query<Item>, _ view: ReadView) throws {
            var source = ViewSource(view: view.engineView)
            let keys = try query.keysInOrder(&source)
            try readObjects(keys, from: 0, of: query, view)
        }

        private mutating func readObjects(
            _ keys: SortedKeys, from first: Int, of query: Query<Item>, _ view: ReadView
        ) throws {
            guard first < keys.count else {
                guard let next = query.behind(keys), next.limitCount != 0 else {
                    rest = .nothing
                    return
                }
                return try readKeys(next, view)
            }
            let end = Swift.min(keys.count, first + Self.pieceCount)
            var source = ExpirySource(view.engineView)
            let found = try query.objects((first..<end).map { keys[$0] }, &source)
            try take(found, from: source)
            rest = .keys(keys, from: end, of: query)
        }

        private mutating func take(
            _ found: [(key: [UInt8], item: Item)], from source: ExpirySource
        ) throws {
            if source.hasFoundDeadline {
                let name = try query.repository.dictionary.checkedName()
                deadlines = try found.map { try source.deadline(of: $0.key, in: name) }
            }
            items = found.map(\.item)
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

    /// What is after a cursor of a page of the query, at most `limit` objects.
    func rest(behind cursor: PageCursor, limit: Int) throws -> Query {
        var query = self
        // As the page had none that the cursor is of.
        query.limitCount = nil
        query = try query.behind(cursor)
        if limit < .max { query.limitCount = limit }
        return query
    }

    /// What is behind keys that were as many as there was room for; `nil` where they were all.
    func behind(_ keys: SortedKeys) -> Query? {
        guard let last = keys.lastPlace else { return nil }
        var query = self
        query.limitCount = limitCount.map { $0 - keys.count }
        query.offsetCount = 0
        query.cursor = last
        return query
    }

    /// The keys of all matches, in order, or of the first of them, and no object longer than it is looked at.
    func keysInOrder<Source: ObjectSource & ~Copyable>(_ source: inout Source) throws -> SortedKeys
    {
        var run = try QueryRun(self, &source)
        return try keysInOrder(&run, &source)
    }

    func keysInOrder<Source: ObjectSource & ~Copyable>(
        _ run: inout QueryRun<Item>, _ source: inout Source
    ) throws -> SortedKeys {
        let form = objectForm(in: run.name)
        if let keys = try matchesOfAttempt(&run, &source, form, { key, _ in key }) {
            return SortedKeys(keys)
        }
        if run.isOrdered {
            var keys: [[UInt8]] = []
            try forEach(&run, &source, form) { key, _ in keys.append(key) }
            return SortedKeys(keys[...])
        }
        let budget = repository.dictionary.workspace.engine.configuration.sortBudgetBytes
        var first = FirstPlaces(count: lookedAtCount, sizeLimitBytes: budget, offset: offsetCount)
        try run.forEachMatch(&source, form) { key, item in
            let place = withUnsafePointer(to: item) { sortKey($0, key) }
            if let cursor, !bytes(cursor, precede: place) { return true }
            first.add(place, keyCount: key.count)
            return true
        }
        return first.sorted()
    }

    /// The objects with these keys, which are matches.
    func objects(
        _ keys: [[UInt8]], _ source: inout ExpirySource
    ) throws -> [(key: [UInt8], item: Item)] {
        var run = try QueryRun(self, source.planningView())
        var found: [(key: [UInt8], item: Item)] = []
        found.reserveCapacity(keys.count)
        for key in keys { if let item = try run.object(key, &source) { found.append((key, item)) } }
        return found
    }
}
