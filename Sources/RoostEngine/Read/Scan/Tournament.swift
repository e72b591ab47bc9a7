import RoostFormat
import RoostSnapshot

/// Which of some sorted runs has the next key. A tree of losers: when the winner moves on it meets,
/// on the way from its leaf to the root, the one run that lost against it at each level.
///
/// - `places[i]` is where in its batch run `i` stands, and at its end for a run that has ended.
/// - `nodes[0]` is the winner; the others are the losers of the matches. Of equal keys that of the
///   run with the lower number comes first.
/// - Matches are played with the heads' numbers, which stand in the nodes; only where those are
///   equal are keys looked at.
///
/// Whoever makes one frees it.
struct Tournament {
    struct Place {
        var head: UnsafePointer<RecordHead>
        var end: UnsafePointer<RecordHead>
        var isAtEnd: Bool { head == end }
    }

    private struct Node {
        var leading: UInt128
        /// Negative while no run has come there.
        var run: Int
    }

    let places: UnsafeMutablePointer<Place>
    private let nodes: UnsafeMutablePointer<Node>
    private let leafCount: Int
    private let isAscending: Bool

    /// All runs have ended. `anywhere` is what their places point to.
    init(runCount: Int, _ order: ScanOrder, anywhere: UnsafePointer<RecordHead>) {
        var leafCount = 1
        while leafCount < runCount { leafCount *= 2 }
        self.leafCount = leafCount
        isAscending = order == .ascending
        places = .allocate(capacity: leafCount)
        places.initialize(repeating: Place(head: anywhere, end: anywhere), count: leafCount)
        nodes = .allocate(capacity: leafCount)
        nodes.initialize(repeating: Node(leading: .max, run: 0), count: leafCount)
    }

    func free() {
        places.deallocate()
        nodes.deallocate()
    }

    /// The run with the next key; it is at its end where all are.
    var winner: Int { @inline(__always) get { nodes[0].run } }

    /// Plays all matches.
    func restart() {
        for node in 0..<leafCount { nodes[node].run = -1 }
        for leaf in 0..<leafCount {
            var coming = Node(leading: leading(leaf), run: leaf)
            var node = (leafCount + leaf) / 2
            while node > 0 {
                if nodes[node].run < 0 { break }
                if isBefore(nodes[node], coming) { swap(&nodes[node], &coming) }
                node /= 2
            }
            nodes[node] = coming
        }
    }

    /// The run has moved on, and it was the winner: plays its matches again.
    @inline(__always)
    func replay(_ run: Int) {
        var coming = Node(leading: leading(run), run: run)
        var node = (leafCount + run) / 2
        while node > 0 {
            let other = nodes[node]
            if isBefore(other, coming) {
                nodes[node] = coming
                coming = other
            }
            node /= 2
        }
        nodes[0] = coming
    }

    @inline(__always)
    private func leading(_ run: Int) -> UInt128 {
        places[run].isAtEnd ? .max : places[run].head.pointee.leading
    }

    @inline(__always)
    private func isBefore(_ left: Node, _ right: Node) -> Bool {
        left.leading != right.leading
            ? left.leading < right.leading : isBeforeByKey(left.run, right.run)
    }

    /// An end comes last.
    @inline(never)
    private func isBeforeByKey(_ left: Int, _ right: Int) -> Bool {
        if places[left].isAtEnd { return false }
        if places[right].isAtEnd { return true }
        let comparison = compareBytes(places[left].head.pointee.key, places[right].head.pointee.key)
        if comparison == 0 { return left < right }
        return isAscending == (comparison < 0)
    }
}
