/// Elements in the order of their keys, found by key or by rank.
///
/// - No chunk is empty, and none has more than `chunkLimit` elements. So a change moves a chunk's
///   elements, and a rank is a sum over the chunks.
struct SortedElements {
    typealias Element = LiveElement

    private static var chunkLimit: Int { 512 }
    private var chunks: [[Element]] = []
    private(set) var count = 0

    init() {}

    /// `elements` are in order.
    init(sorted elements: [Element]) {
        let size = Self.chunkLimit / 2
        chunks = stride(from: 0, to: elements.count, by: size).map {
            Array(elements[$0..<Swift.min($0 + size, elements.count)])
        }
        count = elements.count
    }

    var all: [Element] {
        var all: [Element] = []
        all.reserveCapacity(count)
        for chunk in chunks { all += chunk }
        return all
    }

    /// Those with the ranks from `lower` on, before `upper` or the end.
    func elements(from lower: Int, to upper: Int) -> [Element] {
        var elements: [Element] = []
        var start = 0
        for chunk in chunks {
            if start >= upper { break }
            let first = Swift.max(lower - start, 0)
            let end = Swift.min(upper - start, chunk.count)
            if first < end { elements += chunk[first..<end] }
            start += chunk.count
        }
        return elements
    }

    func forEach(_ body: (Element) -> Void) {
        for chunk in chunks { for element in chunk { body(element) } }
    }

    /// How many elements stand before `key`.
    func rank(of key: SortKey) -> Int {
        let (chunk, index) = place(of: key)
        return start(ofChunk: chunk) + index
    }

    /// Returns its rank.
    mutating func insert(_ element: Element) -> Int {
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[element]]
            return 0
        }
        var (chunk, index) = place(of: element.key)
        if chunk == chunks.count {
            chunk -= 1
            index = chunks[chunk].count
        }
        let rank = start(ofChunk: chunk) + index
        chunks[chunk].insert(element, at: index)
        if chunks[chunk].count > Self.chunkLimit {
            let half = chunks[chunk].count / 2
            let rest = Array(chunks[chunk][half...])
            chunks[chunk].removeLast(rest.count)
            chunks.insert(rest, at: chunk + 1)
        }
        return rank
    }

    mutating func remove(at rank: Int) {
        var start = 0
        for chunk in chunks.indices {
            if rank < start + chunks[chunk].count {
                chunks[chunk].remove(at: rank - start)
                if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
                count -= 1
                return
            }
            start += chunks[chunk].count
        }
        preconditionFailure("a rank is below the count")
    }

    private func start(ofChunk chunk: Int) -> Int {
        chunks[..<chunk].reduce(0) { $0 + $1.count }
    }

    /// The first place whose element is not before `key`.
    private func place(of key: SortKey) -> (chunk: Int, index: Int) {
        let chunk = Self.firstIndex(chunks.count) { !(chunks[$0][chunks[$0].count - 1].key < key) }
        guard chunk < chunks.count else { return (chunk, 0) }
        return (chunk, Self.firstIndex(chunks[chunk].count) { !(chunks[chunk][$0].key < key) })
    }

    /// The first of the indices for which `isBehind` says so, as it does for all that follow.
    private static func firstIndex(_ count: Int, _ isBehind: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
