import RoostIO

/// The last records of a range, of an engine that reads ranges cheaply from their begin alone: etcd asked for an order loads
/// every record of the range first, with its value.
///
/// Looks for a key behind which there are some more than are wanted, by halves of what is left between two keys, and reads
/// from there. Takes about as many requests as the range's count has binary digits, each of few keys without values; two
/// where the range is small.
package struct DescendingRead: Sendable {
    /// Answers a read that is not descending, with at most `limit` records.
    package typealias Reader = @Sendable (SharedRead) async throws -> SharedPage

    private let wanted: SharedRead
    private let reader: Reader
    private var revision: UInt64?
    /// The bytes that keys were seen to have.
    private var alphabet = [Bool](repeating: false, count: 256)

    package init(_ wanted: SharedRead, by reader: @escaping Reader) {
        self.wanted = wanted
        self.reader = reader
        revision = wanted.revision
    }

    /// How many keys a look may have: few requests, and small ones.
    private var mostKeys: Int { max(wanted.limit * 4, 256) }

    /// The page that was wanted, from the last record on. Where that is of the newest revision, and the engine gives that up
    /// meanwhile, of the one that is the newest then.
    package mutating func page() async throws -> SharedPage {
        while true {
            do { return try await pageOfOneRevision() } catch let error as RoostError
                where error.code == .compacted && wanted.revision == nil
            {
                revision = nil
            }
        }
    }

    private mutating func pageOfOneRevision() async throws -> SharedPage {
        // More than can be looked for are nearly all.
        guard wanted.limit <= 1024 else { return try await pageOfAll() }
        var low = wanted.range.lower
        var found = try await keys(from: low)
        let isAll = !found.hasMore
        if !isAll { (low, found) = try await look(behind: found) }
        let tail = found.records.suffix(wanted.limit)
        let hasMore = !isAll || tail.count < found.records.count
        guard let first = tail.first?.key else {
            return SharedPage(records: [], revision: revision ?? 0, hasMore: false)
        }
        var records = Array(tail)
        if !wanted.isKeysOnly {
            var read = SharedRead(
                SharedKeyRange(lower: first, upper: wanted.range.upper), at: revision,
                limit: wanted.limit)
            read.isKeysOnly = false
            records = try await reader(read).records
        }
        return SharedPage(records: records.reversed(), revision: revision ?? 0, hasMore: hasMore)
    }

    /// Keys from which on there are as many as are wanted, and not too many, where there are too many from `begin` on.
    private mutating func look(
        behind begin: SharedPage
    ) async throws -> (low: [UInt8], found: SharedPage) {
        // From `low` on there are enough, from `high` on too few.
        var low = enough(in: begin) ?? wanted.range.lower
        var high = wanted.range.upper
        while true {
            let middle =
                SharedKeyRange.key(between: low, high, of: alphabet)
                ?? SharedKeyRange.key(between: low, high)
            guard low.lexicographicallyPrecedes(middle), middle.lexicographicallyPrecedes(high)
            else { break }
            let found = try await keys(from: middle)
            if found.hasMore, let key = enough(in: found) {
                low = key
            } else if found.records.count < wanted.limit {
                high = middle
            } else {
                return (middle, found)
            }
        }
        // The keys between are too close for halves: the rest one look after the other.
        var last: [SharedRecord] = []
        var rest = low
        while true {
            let found = try await keys(from: rest)
            last = (last + found.records).suffix(wanted.limit)
            guard found.hasMore, let key = found.records.last?.key else { break }
            rest = key + [0]
        }
        return (
            last.first?.key ?? low,
            SharedPage(records: last, revision: revision ?? 0, hasMore: false)
        )
    }

    /// Where as many as are wanted are left of a page that has more behind it.
    private func enough(in page: SharedPage) -> [UInt8]? {
        page.records.suffix(wanted.limit).first?.key
    }

    private mutating func keys(from lower: [UInt8]) async throws -> SharedPage {
        var read = SharedRead(
            SharedKeyRange(lower: lower, upper: wanted.range.upper), at: revision, limit: mostKeys)
        read.isKeysOnly = true
        let page = try await reader(read)
        if revision == nil { revision = page.revision }
        for record in page.records { for byte in record.key { alphabet[Int(byte)] = true } }
        return page
    }

    /// By reading all of it.
    private mutating func pageOfAll() async throws -> SharedPage {
        var records: [SharedRecord] = []
        var lower = wanted.range.lower
        var count = 0
        while true {
            var read = SharedRead(
                SharedKeyRange(lower: lower, upper: wanted.range.upper), at: revision, limit: 1024)
            read.isKeysOnly = wanted.isKeysOnly
            let page = try await reader(read)
            if revision == nil { revision = page.revision }
            count += page.records.count
            records = (records + page.records).suffix(wanted.limit)
            guard page.hasMore, let last = page.records.last?.key else { break }
            lower = last + [0]
        }
        return SharedPage(
            records: records.reversed(), revision: revision ?? 0, hasMore: count > records.count)
    }
}

extension SharedKeyRange {
    /// A key between two whose last byte is the middle one of those that keys have, at the first place where there are any;
    /// `nil` where there are none. Keys of digits are found in a third of the halves that bytes take.
    static func key(
        between lower: [UInt8], _ upper: [UInt8], of alphabet: [Bool]
    ) -> [UInt8]? {
        let common = zip(lower, upper).prefix { $0 == $1 }.count
        for place in common..<common + Self.comparedCount {
            let first = place < lower.count ? Int(lower[place]) : -1
            // Behind the place in which they differ `upper` is no bound.
            let end = place == common ? (place < upper.count ? Int(upper[place]) : 0) : 256
            let between = (first + 1..<max(first + 1, end)).filter { alphabet[$0] }
            if !between.isEmpty {
                let prefix = place <= lower.count ? Array(lower[..<place]) : lower
                return prefix + [UInt8(between[between.count / 2])]
            }
            if place >= lower.count { return nil }
        }
        return nil
    }

    /// A key about halfway between two, as if keys were spread evenly; `lower` where there is none that is found so.
    static func key(between lower: [UInt8], _ upper: [UInt8]) -> [UInt8] {
        let common = zip(lower, upper).prefix { $0 == $1 }.count
        func byte(_ key: [UInt8], _ place: Int) -> Int { place < key.count ? Int(key[place]) : 0 }
        // The sum of both, with a byte for what it is longer, and then half of it.
        var sum = [Int](repeating: 0, count: Self.comparedCount + 1)
        for place in (0..<Self.comparedCount).reversed() {
            sum[place + 1] += byte(lower, common + place) + byte(upper, common + place)
            sum[place] = sum[place + 1] >> 8
            sum[place + 1] &= 0xff
        }
        var middle = Array(lower[..<common])
        for place in 0..<Self.comparedCount {
            middle.append(UInt8((sum[place] & 1) << 7 | sum[place + 1] >> 1))
        }
        return middle
    }

    /// How many bytes behind those that two keys share are looked at.
    private static var comparedCount: Int { 16 }
}
