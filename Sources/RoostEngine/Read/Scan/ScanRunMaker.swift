import RoostFormat
import RoostSnapshot

/// Makes the runs of a scan: of the log, of all shards, the newer before the older.
struct ScanRunMaker {
    let view: EngineView
    let range: RecordRange
    let order: ScanOrder
    let limit: Int

    func logRuns() throws -> [ScanRun] {
        var runs: [ScanRun] = []
        for part in view.parts {
            if let enqueued = part.enqueued { add(enqueued, to: &runs) }
        }
        guard !range.prefix.isEmpty else {
            for shard in view.parts.indices {
                add(try view.activeOperations(ofShard: shard, in: range), to: &runs)
            }
            for part in view.parts {
                if let frozen = part.frozen { add(frozen, to: &runs) }
            }
            return runs
        }
        for keyOrder in view.keyOrders {
            let keys = try keyOrder.keys(of: range.prefix, in: view)
            if keys.runs.isEmpty { continue }
            let tables = OrderedTables(view, keyOrder, keys)
            for run in keys.runs {
                runs.append(OrderedKeysRun(run, tables, range, order, limit: limit))
            }
        }
        return runs
    }

    private func add(_ table: LogTable, to runs: inout [ScanRun]) {
        var operations: [Operation] = []
        table.forEach { if range.contains($0.key) { operations.append($0) } }
        add(operations, to: &runs)
    }

    private func add(_ operations: [Operation], to runs: inout [ScanRun]) {
        if operations.isEmpty { return }
        runs.append(OperationRun(SortedTable.sorted(operations), range, order))
    }
}
