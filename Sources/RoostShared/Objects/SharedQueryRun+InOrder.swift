// The objects that an index names in the query's order.

extension SharedQueryRun {
    /// Until there are enough. Those of one group come in any order, and all are there before the next.
    nonisolated(nonsending) func read(
        inOrder entries: SharedEntries<Item>
    ) async throws -> [Match] {
        var matches: [Match] = []
        var group: [[UInt8]] = []
        var form: [UInt8]?
        // Whole groups whose objects were not read yet, so that small ones are read together.
        var waiting: [[UInt8]] = []
        var pieceCount = min(64, terms.wantedCount)
        var readCount = 0
        var last: SharedEntries<Item>.Element?
        var seen: Set<[UInt8]> = []
        /// Whether there are enough, once the objects that wait are read where they are a piece.
        nonisolated(nonsending) func isEnough(reading isPiece: Bool) async throws -> Bool {
            if isPiece {
                matches += sorted(try await objects(waiting, at: entries.revision))
                readCount += waiting.count
                waiting = []
                // As many as have the missing ones among them, if they match as often as those before.
                let missing = Double(max(terms.wantedCount - matches.count, 0))
                let share = Double(matches.count + 1) / Double(readCount + 1)
                pieceCount = Int(max(1, min(64, (missing / share).rounded(.up))))
            }
            return matches.count >= terms.wantedCount
        }
        while let page = try await entries.next() {
            for entry in page {
                last = entry
                if entries.plan.mayRepeat, !seen.insert(entry.objectKey).inserted { continue }
                if !group.isEmpty, entry.group != form {
                    waiting += group
                    group = []
                    if try await isEnough(reading: waiting.count >= pieceCount) {
                        entries.guardRanges(upTo: entry, isWith: false)
                        return matches
                    }
                }
                form = entry.group
                guard form == nil else {
                    group.append(entry.objectKey)
                    continue
                }
                waiting.append(entry.objectKey)
                if try await isEnough(reading: waiting.count >= pieceCount) {
                    entries.guardRanges(upTo: entry, isWith: true)
                    return matches
                }
            }
        }
        waiting += group
        if try await isEnough(reading: true), let last, last.group == nil {
            entries.guardRanges(upTo: last, isWith: true)
        } else {
            entries.guardRanges()
        }
        return matches
    }
}
