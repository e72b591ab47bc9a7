/// YCSB's core workloads, as stretches for one or more clients.
enum Mix: String, CaseIterable, Sendable {
    case a = "ycsb-a"
    case b = "ycsb-b"
    case c = "ycsb-c"
    case d = "ycsb-d"
    case e = "ycsb-e"
    case f = "ycsb-f"

    /// Of a hundred operations, how many are not what the mix is named for.
    private var changes: (percent: Int, kind: Stretch.Kind) {
        switch self {
        case .a: (50, .set)
        case .b: (5, .set)
        case .c: (0, .set)
        case .d: (5, .set)
        case .e: (5, .set)
        case .f: (50, .readThenSet)
        }
    }

    var inserts: Bool { self == .d || self == .e }

    /// - Parameters:
    ///   - keyCount: The keys in the store, from 0 on; new ones are put after `firstNewKey`.
    ///   - firstNewKey: The first index that no earlier stretch has put.
    func stretches(
        _ workload: Workload, zipfian: Zipfian, operations: Int, clients: Int, firstNewKey: Int,
        generation: UInt64
    ) -> [Stretch] {
        (0..<clients).map { client in
            var random = SplitMix(state: generation &* 1000 &+ UInt64(client))
            var kinds: [Stretch.Kind] = []
            var indices: [Int] = []
            var inserted = 0
            for _ in 0..<(operations / clients) {
                let isChange = Int(random.next() % 100) < changes.percent
                let kind: Stretch.Kind = isChange ? changes.kind : self == .e ? .scan : .read
                kinds.append(kind)
                if isChange, inserts {
                    indices.append(firstNewKey + inserted * clients + client)
                    inserted += 1
                } else if self == .d {
                    // The latest are the most read: the client's own, so that they are there.
                    let rank = zipfian.rank(&random)
                    indices.append(
                        rank < inserted
                            ? firstNewKey + (inserted - 1 - rank) * clients + client
                            : max(0, zipfian.count - 1 - (rank - inserted)))
                } else {
                    indices.append(zipfian.index(&random))
                }
            }
            return Stretch(kinds, indices, workload, generation: generation)
        }
    }
}
