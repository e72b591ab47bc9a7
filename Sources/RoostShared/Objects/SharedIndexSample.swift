import Roost
import RoostIO

/// Looks at some of a shared index whether it has what the declaration makes of the objects now. Its shape does not
/// tell what computed properties and closures do, and how the type decodes a field. docs/decisions/0259.
///
/// - All is of one revision: an object and its entries are written by one commit.
/// - Some entries are compared with those of their objects, and those of some objects with the ones that are there.
/// - An object that cannot be read says nothing: whoever needs it is told.
struct SharedIndexSample<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    /// Both ends have what is rare: where most objects have `nil`, the others are last.
    private static var endCount: Int { 4 }
    private static var betweenCount: Int { 8 }
    /// Of an object with more elements only so many are looked for.
    private static var entryCount: Int { 32 }

    private let repository: SharedRepository<Item>
    private let indexes: DeclaredIndexes<Item>
    private let place: Int
    private let isBuilt: Bool
    private let range: SharedKeyRange
    private let revision: UInt64

    init(
        repository: SharedRepository<Item>, _ indexes: DeclaredIndexes<Item>, at place: Int,
        _ listed: SharedIndexCatalog.Listed, at revision: UInt64
    ) {
        self.repository = repository
        self.indexes = indexes
        self.place = place
        self.revision = revision
        isBuilt = listed.isBuilt
        range = repository.dictionary.connection.keys.entries(
            of: repository.dictionary.name, number: listed.number)
    }

    private var dictionary: SharedDictionary { repository.dictionary }
    private var connection: SharedConnectionState { dictionary.connection }

    /// Whether all that was looked at agrees. Makes at most 32 objects, by about 20 requests for pages and one for each
    /// object and entry.
    func agrees() async throws -> Bool {
        guard try await entriesAgree() else { return false }
        // One that is being built has not passed all objects yet.
        guard isBuilt else { return true }
        return try await objectsAgree()
    }

    private func entriesAgree() async throws -> Bool {
        let entries = try await spread(range)
        var named: [(entry: SharedRecord, key: [UInt8], objectKey: [UInt8])] = []
        for entry in entries {
            let key = Array(entry.key.dropFirst(range.lower.count))
            guard let objectKey = indexes.objectKey(ofEntry: key, entry.value, at: place) else {
                return false
            }
            named.append((entry, key, objectKey))
        }
        let objects = try await connection.records(
            named.map { dictionary.start + $0.objectKey }, at: revision,
            before: dictionary.workspace.callEnd)
        for ((entry, key, objectKey), object) in zip(named, objects) {
            guard let object = connection.live(object) else { return false }
            guard let item = item(object) else { continue }
            let isWanted = made(of: item, objectKey)?.contains { wanted in
                wanted.key == key && Self.names(wanted.value, entry.value)
            }
            guard isWanted == true else { return false }
        }
        return true
    }

    private func objectsAgree() async throws -> Bool {
        for object in try await spread(connection.keys.range(of: dictionary.name)) {
            guard let object = connection.live(object), let item = item(object) else { continue }
            // One that expires had expired for whoever built the index, by a clock that is ahead: it has no entries.
            guard connection.clock.deadline(of: object.value) == .never else { continue }
            let objectKey = Array(object.key.dropFirst(dictionary.start.count))
            guard let wanted = made(of: item, objectKey)?.prefix(Self.entryCount) else {
                return false
            }
            let entries = try await connection.records(
                wanted.map { range.lower + $0.key }, at: revision,
                before: dictionary.workspace.callEnd)
            for (wanted, entry) in zip(wanted, entries) {
                guard let entry, Self.names(wanted.value, entry.value) else { return false }
            }
        }
        return true
    }

    /// Whether two entries' values name the same object, or none.
    private static func names(_ value: [UInt8], _ other: [UInt8]) -> Bool {
        DeclaredIndexes<Item>.objectKey(inValue: value)
            == DeclaredIndexes<Item>.objectKey(inValue: other)
    }

    /// `nil` where it does not decode.
    private func item(_ record: SharedRecord) -> Item? {
        let key = String(decoding: record.key.dropFirst(dictionary.start.count), as: UTF8.self)
        do {
            return try repository.form.value(
                ofStored: record.value, key: key, in: try dictionary.checkedName())
        } catch {
            // Whoever needs the object is told what is wrong with it.
            return nil
        }
    }

    /// `nil` where the declaration makes none: then the index, which has some, is of another one.
    private func made(of item: Item, _ objectKey: [UInt8]) -> [DeclaredIndexes<Item>.Entry]? {
        do { return try indexes.entries(of: item, objectKey, at: place) } catch { return nil }
    }

    // MARK: Which

    /// Some records at both ends of a range, and some between, each once.
    private func spread(_ range: SharedKeyRange) async throws -> [SharedRecord] {
        let first = try await read(range, Self.endCount)
        guard first.hasMore, let lower = first.records.last?.key else { return first.records }
        let last = try await read(range, Self.endCount, isDescending: true)
        var records = first.records + last.records
        if let upper = last.records.last?.key {
            for step in 1...Self.betweenCount {
                let start = Self.key(between: lower, upper, step, of: Self.betweenCount + 1)
                records += try await read(
                    SharedKeyRange(lower: max(start, lower), upper: range.upper), 1
                ).records
            }
        }
        var seen: Set<[UInt8]> = []
        return records.filter { seen.insert($0.key).inserted }
    }

    private func read(
        _ range: SharedKeyRange, _ limit: Int, isDescending: Bool = false
    ) async throws -> SharedPage {
        var read = SharedRead(range, at: revision, limit: limit)
        read.isDescending = isDescending
        return try await connection.read(read, before: dictionary.workspace.callEnd)
    }

    /// A key about so far on the way from one to another, as if keys were spread evenly.
    static func key(
        between lower: [UInt8], _ upper: [UInt8], _ step: Int, of stepCount: Int
    ) -> [UInt8] {
        let common = zip(lower, upper).prefix { $0 == $1 }.count
        func number(_ key: [UInt8]) -> UInt64 {
            (0..<8).reduce(0) { number, place in
                let index = common + place
                return number << 8 | UInt64(index < key.count ? key[index] : 0)
            }
        }
        let (low, high) = (number(lower), number(upper))
        guard low < high else { return lower }
        let way = (high - low) / UInt64(stepCount) * UInt64(step)
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: (low + way) >> (56 - 8 * $0)) }
        return Array(lower[..<common]) + bytes
    }
}

private func max(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    left.lexicographicallyPrecedes(right) ? right : left
}
