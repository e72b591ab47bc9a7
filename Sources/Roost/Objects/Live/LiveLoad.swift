import RoostEngine
import RoostFormat
import RoostIO
import RoostSnapshot

/// The matches of a query at one moment, as many as a live result of it keeps.
struct LiveLoad<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    private(set) var objects: [(key: [UInt8], item: Item, deadline: Deadline)] = []
    private(set) var isComplete = true
    /// Of the objects that could not be decoded, which are left out.
    private(set) var failures: [RoostError] = []

    init(_ query: Query<Item>, in view: EngineView) throws {
        let keptCount = LiveWindow(query)?.keptCount ?? .max
        var all = query
        all.offsetCount = 0
        all.limitCount = keptCount == .max ? nil : keptCount
        all.indexSet = try query.repository.indexes?.current(in: view)
        var mayExpire = true
        do {
            var source = ExpirySource(view)
            try all.forEach(&source) { objects.append(($0, $1, .never)) }
            mayExpire = source.hasFoundDeadline
        } catch let error as RoostError
            where error.code == .decodingFailed || error.code == .typeMismatch
        {
            try readOneByOne(query, view)
        }
        isComplete = objects.count < keptCount
        if objects.count > keptCount { objects.removeLast(objects.count - keptCount) }
        if mayExpire { try findDeadlines(query.repository.dictionary.checkedName(), view) }
    }

    /// Looks them up, as not all that was read is here, nor in the order in which it was read.
    private mutating func findDeadlines(_ name: DictionaryName, _ view: EngineView) throws {
        for index in objects.indices {
            let key = name.prefix + objects[index].key
            // What has expired meanwhile goes at once.
            objects[index].deadline =
                try view.deadline(recordKey: key, in: name) ?? Deadline(milliseconds: 0)
        }
    }

    /// Reads every object, and leaves out what does not decode.
    private mutating func readOneByOne(_ query: Query<Item>, _ view: EngineView) throws {
        objects = []
        let repository = query.repository
        let name = try repository.dictionary.checkedName()
        var found: [(sortKey: SortKey, key: [UInt8], item: Item)] = []
        let scan = try view.scan(RecordRange(name))
        while let recordKey = scan.recordKey {
            let key = Array(recordKey.dropFirst(name.prefix.count))
            do {
                let item = try scan.withValue { stored in
                    try key.withUnsafeBytes { try repository.decode(stored, $0) }
                }
                try withUnsafePointer(to: item) { object in
                    guard try query.condition.matches(object) else { return }
                    found.append((SortKey(query.sortKey(object, key)), key, item))
                }
            } catch let error as RoostError
                where error.code == .decodingFailed || error.code == .typeMismatch
            {
                failures.append(error)
            }
            try scan.moveToNext()
        }
        found.sort { $0.sortKey < $1.sortKey }
        objects = found.map { ($0.key, $0.item, .never) }
    }
}
