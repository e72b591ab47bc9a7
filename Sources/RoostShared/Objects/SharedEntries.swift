import Roost
import RoostIO

/// The entries of a plan, in its order, a page of one revision at a time.
///
/// - `rest` are the ranges that were not read to their end, the next one last.
/// - `ranges` are all of them, in the same order; the page that was given last is of the one at `place`.
final class SharedEntries<Item: Identifiable & Sendable> where Item.ID: Sendable {
    let plan: EntryPlan<Item>
    let revision: UInt64
    private let source: SharedQuerySource
    private var ranges: [SharedKeyRange] = []
    private var place = 0
    private var rest: [(place: Int, start: Int, range: SharedKeyRange, hasValues: Bool)] = []
    private var pageCount = 64

    init(
        _ repository: SharedRepository<Item>, _ plan: EntryPlan<Item>,
        _ catalog: SharedIndexCatalog, _ source: SharedQuerySource, at revision: UInt64?
    ) {
        self.plan = plan
        self.revision = revision ?? 0
        self.source = source
        let dictionary = repository.dictionary
        guard let indexes = repository.indexes else { return }
        let keys = dictionary.connection.keys
        let numbers = Dictionary(
            uniqueKeysWithValues: catalog.listed(indexes).map { ($0.place, $0.index.number) })
        for part in plan.parts {
            guard let number = numbers[part.place] else { continue }
            let all = keys.entries(of: dictionary.name, number: number)
            for range in part.ranges {
                let upper = range.upper.map { all.lower + $0 } ?? all.upper
                rest.append(
                    (
                        part.place, all.lower.count,
                        SharedKeyRange(lower: all.lower + range.lower, upper: upper),
                        indexes.hasKeysInValues(at: part.place)
                    ))
            }
        }
        if !plan.isReversed { rest.reverse() }
        ranges = rest.map(\.range)
    }

    /// One entry: of which object, and where it stands in the plan's order: with others of its group, or by itself.
    struct Element {
        /// Of the entry, after what all of the index begin with.
        let key: [UInt8]
        let objectKey: [UInt8]
        let group: [UInt8]?
        fileprivate let record: SharedRecord
    }

    /// The next page; `nil` after the last.
    nonisolated(nonsending) func next() async throws -> [Element]? {
        guard let (place, start, range, hasValues) = rest.last else { return nil }
        self.place = rest.count - 1
        var read = SharedRead(range, at: revision, limit: pageCount)
        read.isDescending = plan.isReversed
        read.isKeysOnly = !hasValues
        let page = try await source.page(read)
        if page.hasMore, let last = page.records.last?.key {
            if plan.isReversed {
                rest[rest.count - 1].range.upper = last
            } else {
                rest[rest.count - 1].range.lower = last + [0]
            }
        } else {
            rest.removeLast()
        }
        pageCount = min(pageCount * 2, 1024)
        return try page.records.map { record in
            let key = Array(record.key.dropFirst(start))
            let entry = try plan.entry(key, record.value, at: place)
            return Element(
                key: key, objectKey: entry.objectKey, group: entry.group, record: record)
        }
    }

    /// Passes by what is left before a bound, of a plan of one index that is not reversed; all of it where that is `nil`.
    func skip(to bound: [UInt8]?) {
        guard let bound else {
            rest = []
            return
        }
        while let (_, start, range, _) = rest.last {
            let lower = range.lower.prefix(start) + bound
            if range.lower.lexicographicallyPrecedes(lower) {
                rest[rest.count - 1].range.lower = Array(lower)
            }
            if !rest[rest.count - 1].range.isEmpty { return }
            rest.removeLast()
        }
    }

    // MARK: Guarding

    /// In a transaction: that each entry stays, where its object is not read. That it is there says as much of the object.
    func guardEach(_ page: [Element]) {
        for entry in page { source.attempt?.noteRevision(of: entry.record) }
    }

    /// In a transaction: that no entry comes into the ranges. An entry that goes changes its object, which was read.
    func guardRanges() {
        for range in ranges { source.attempt?.guardRange(range) }
    }

    /// In a transaction: that no entry comes into what was read, up to an entry of the page that was given last; with it
    /// or without.
    func guardRanges(upTo end: Element, isWith: Bool) {
        guard let attempt = source.attempt else { return }
        for range in ranges.dropFirst(place + 1) { attempt.guardRange(range) }
        let key = end.record.key
        var last = ranges[place]
        if plan.isReversed {
            last.lower = isWith ? key : key + [0]
        } else {
            last.upper = isWith ? key + [0] : key
        }
        attempt.guardRange(last)
    }
}
