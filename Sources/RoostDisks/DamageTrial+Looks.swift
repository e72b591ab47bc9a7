import Roost

extension DamageTrial {
    /// Looks at all keys, and at `number`, in each of the ways that are not a plain read: all that there is, as it was written
    /// last, or an error.
    func look(_ workspace: Workspace, _ number: Int, _ found: SharedTally) async {
        let values = workspace.dictionary("old")
        let key = "\(number)"
        let all = Set((0..<Self.keyCount).map { "\($0)" })
        await expect("a scan of the keys", found) { Set(try values.keys) == all }
        await expect("a count", found) { try values.count == Self.keyCount }
        await expect("a page", found) {
            isAll(try values.page(as: [UInt8].self, limit: Self.keyCount))
        }
        await expect("a scan of the entries", found) {
            var entries: [(key: String, value: [UInt8])] = []
            for try await (key, value) in values.entries(as: [UInt8].self) {
                entries.append((key, value))
            }
            return isAll(entries)
        }
        await expect("an entry", found) {
            try values.entry(forKey: key, as: [UInt8].self).value == newestValue(number)
        }
        await expect("a view", found) {
            try workspace.read {
                try $0.value(forKey: key, as: [UInt8].self, in: values) == newestValue(number)
            }
        }
        await expect("a transaction", found) {
            try await workspace.transaction { transaction in
                let value = try transaction.value(forKey: key, as: [UInt8].self, in: values)
                guard value == newestValue(number) else { return false }
                return Set(try transaction.keys(of: values)) == all
            }
        }
    }

    private func isAll(_ entries: [(key: String, value: [UInt8])]) -> Bool {
        entries.count == Self.keyCount
            && entries.allSatisfy { entry in
                Int(entry.key).map { entry.value == newestValue($0) } ?? false
            }
    }

    private func expect(
        _ what: String, _ found: SharedTally, _ look: () async throws -> Bool
    ) async {
        do {
            let isRight = try await look()
            found.tally.withLock { found in
                found.lookCount += 1
                if !isRight {
                    found.broken.append("seed \(seed): \(what) gives what is not there, or not all")
                }
            }
        } catch let error as RoostError {
            judge(error, what, found)
        } catch { found.tally.withLock { $0.broken.append("seed \(seed): \(what): \(error)") } }
    }
}
