import Roost
import RoostFormat
import RoostIO

// Scans: pages of one revision, each as large as the engine answers well.

extension SharedDictionary {
    /// The selected entries, all of the revision of the first page; as the call that takes a type. Each page is
    /// one request, with a deadline of its own.
    ///
    /// Iterating throws `.compacted` where it takes longer than the engine keeps that revision.
    public func entries<Value>(
        _ selection: KeySelection, form: ValueForm<Value>
    ) -> KeyValueSequence<(key: String, value: Value)> {
        KeyValueSequence {
            let scan = SharedScan(self, selection, isKeysOnly: false)
            return {
                guard let record = try await scan.next() else { return nil }
                let key = scan.key(of: record)
                let name = try self.checkedName()
                return (key, try form.value(ofStored: record.value, key: key, in: name))
            }
        }
    }

    /// The selected keys, all of one revision; as the call that takes a prefix.
    public func keys(_ selection: KeySelection) -> KeyValueSequence<String> {
        KeyValueSequence {
            let scan = SharedScan(self, selection, isKeysOnly: true)
            return { try await scan.next().map(scan.key(of:)) }
        }
    }

    /// What a selection is in the engine.
    func range(_ bounds: KeyBounds) -> SharedKeyRange {
        let all = connection.keys.range(of: name)
        return SharedKeyRange(
            lower: start + bounds.lower, upper: bounds.upper.map { start + $0 } ?? all.upper)
    }
}

/// One walk over the records of a dictionary.
///
/// - All pages are of `revision`, which the first one sets.
/// - `range` is what was not read yet; `page` is what was read and not given, the next one last.
final class SharedScan {
    private let dictionary: SharedDictionary
    private let isDescending: Bool
    private let isKeysOnly: Bool
    private let isRaw: Bool
    private let deadline: ContinuousClock.Instant?
    private(set) var revision: UInt64?
    private var range: SharedKeyRange
    private var remaining: Int
    private var page: [SharedRecord] = []
    private var hasMore = true
    private var pageCount = ScanPageCount()

    /// - Parameters:
    ///   - revision: where to read; the newest where it is `nil`.
    ///   - deadline: of the whole scan; where it is `nil` each page has a call's time.
    ///   - isRaw: whether what has expired and is not removed yet is given too.
    init(
        _ dictionary: SharedDictionary, _ selection: KeySelection, isKeysOnly: Bool,
        at revision: UInt64? = nil, before deadline: ContinuousClock.Instant? = nil,
        isRaw: Bool = false
    ) {
        self.dictionary = dictionary
        self.deadline = deadline
        self.isKeysOnly = isKeysOnly
        self.isRaw = isRaw
        self.revision = revision
        isDescending = selection.order == .descending
        remaining = max(0, selection.limit ?? .max)
        range = dictionary.range(selection.bounds)
    }

    func key(of record: SharedRecord) -> String {
        String(decoding: record.key.dropFirst(dictionary.start.count), as: UTF8.self)
    }

    /// The next record whose value has not expired, or of a raw scan the next one.
    nonisolated(nonsending) func next() async throws -> SharedRecord? {
        _ = try dictionary.checkedName()
        while remaining > 0 {
            while let record = page.popLast() {
                // A record without its value comes here only where nothing on the page expires.
                guard
                    isRaw || isKeysOnly && !record.expires
                        || dictionary.connection.clock.isLive(record.value)
                else { continue }
                remaining -= 1
                return record
            }
            guard hasMore, !range.isEmpty else { return nil }
            try await readPage()
        }
        return nil
    }

    /// Reads the next page. One that could not be read in half of the time that is left, which may be since it is large,
    /// is asked for again with fewer records.
    private nonisolated(nonsending) func readPage() async throws {
        let deadline = self.deadline ?? dictionary.workspace.callEnd
        while true {
            let count = min(pageCount.count, remaining)
            let now = ContinuousClock.now
            do {
                return try await readPage(
                    count, before: count > 1 ? now + (deadline - now) / 2 : deadline)
            } catch let error as RoostError
                where [.unavailable, .tooLarge].contains(error.code) && count > 1
            {
                pageCount.noteFailure(of: count)
            }
        }
    }

    private nonisolated(nonsending) func readPage(
        _ count: Int, before deadline: ContinuousClock.Instant
    ) async throws {
        var read = SharedRead(range, at: revision, limit: count)
        read.isDescending = isDescending
        read.isKeysOnly = isKeysOnly
        let connection = dictionary.connection
        var found = try await connection.read(read, before: deadline)
        if isKeysOnly && !isRaw && found.records.contains(where: \.expires) {
            // Whether they have expired stands in their values.
            read.isKeysOnly = false
            read.revision = found.revision
            found = try await connection.read(read, before: deadline)
        }
        revision = found.revision
        hasMore = found.hasMore
        if let last = found.records.last?.key {
            if isDescending { range.upper = last } else { range.lower = last + [0] }
        }
        pageCount.note(found.records)
        page = found.records.reversed()
    }
}

/// How many records a scan asks for at once: few at first, as nobody knows how large they are, then as many as are about a
/// MiB by the size of those before.
///
/// - `limit` is below what could not be read, and grows by one with each page: that may have been the network.
struct ScanPageCount {
    private(set) var count = 16
    private var limit = 1024
    private static let wantedBytes = 1 << 20

    mutating func note(_ records: [SharedRecord]) {
        limit = min(limit + 1, 1024)
        let sizeBytes = records.reduce(0) { $0 + $1.key.count + $1.value.count }
        let wanted = Self.wantedBytes * max(1, records.count) / max(1, sizeBytes)
        count = max(1, min(count * 4, wanted, limit))
    }

    mutating func noteFailure(of count: Int) {
        limit = max(1, count / 4)
        self.count = limit
    }
}
