#if Peers
    import CTkrzw
    import Foundation

    /// Tkrzw's HashDBM: a hash table in a mapped file. `synced` synchronises it hard after each
    /// call.
    ///
    /// `@unchecked Sendable`: a DBM may be used by all threads; the rest is `let`.
    final class TkrzwEngine: KeyValueEngine, @unchecked Sendable {
        static let name = "tkrzw"
        static let settings = "HashDBM, MemoryMapParallelFile, buckets twice the keys, no checksums"
        static let abilities = EngineAbilities(isOrdered: false, hasAtomicBatches: false)

        fileprivate let database: UnsafeMutablePointer<TkrzwDBM>
        fileprivate let isSynced: Bool

        private init(database: UnsafeMutablePointer<TkrzwDBM>, isSynced: Bool) {
            self.database = database
            self.isSynced = isSynced
        }

        static func open(at path: String, options: EngineOptions) throws -> TkrzwEngine {
            let parameters =
                "dbm=HashDBM,file=MemoryMapParallelFile,num_buckets=\(options.expectedKeys * 2)"
            guard let database = tkrzw_dbm_open(path + "/values.tkh", true, parameters) else {
                throw lastError()
            }
            return TkrzwEngine(database: database, isSynced: options.durability == .synced)
        }

        func makeClient() -> Client { Client(engine: self) }

        func compact() throws {
            guard tkrzw_dbm_rebuild(database, "") else { throw lastError() }
        }

        func close() throws {
            guard tkrzw_dbm_close(database) else { throw lastError() }
        }

        struct Client: KeyValueClient {
            fileprivate let engine: TkrzwEngine

            func set(_ value: [UInt8], forKey key: String) throws {
                try put(value, key)
                try synchronize()
            }

            func word(forKey key: String) throws -> UInt64? {
                var found = FoundWord()
                let isDone = try key.withKeyBytes { bytes, count in
                    withUnsafeMutablePointer(to: &found) { found in
                        tkrzw_dbm_process(
                            engine.database, bytes, Int32(count),
                            { argument, _, _, value, valueCount, _ in
                                if let value, let argument {
                                    let found = argument.assumingMemoryBound(to: FoundWord.self)
                                    found.pointee.note(value, valueCount)
                                }
                                return TKRZW_REC_PROC_NOOP
                            }, found, false)
                    }
                }
                guard isDone else { throw lastError() }
                if found.sizeBytes < 0 { return nil }
                guard found.sizeBytes >= 8 else { throw BenchError("\(found.sizeBytes) bytes") }
                return found.word
            }

            func setAll(_ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>) throws {
                for (key, value) in zip(keys, values) { try put(value, key) }
                try synchronize()
            }

            func scan(from key: String?, limit: Int, makesEntries: Bool) throws -> ScanTotals {
                guard let iterator = tkrzw_dbm_make_iterator(engine.database) else {
                    throw lastError()
                }
                defer { tkrzw_dbm_iter_free(iterator) }
                var totals = ScanTotals()
                guard tkrzw_dbm_iter_first(iterator) else { throw lastError() }
                while totals.entries < limit {
                    var key: UnsafeMutablePointer<CChar>?
                    var value: UnsafeMutablePointer<CChar>?
                    var keyCount: Int32 = 0
                    var count: Int32 = 0
                    guard tkrzw_dbm_iter_get(iterator, &key, &keyCount, &value, &count) else {
                        break
                    }
                    try totals.add(
                        .init(start: value, count: Int(count)), makesEntry: makesEntries,
                        key: .init(start: key, count: Int(keyCount)))
                    free(key)
                    free(value)
                    guard tkrzw_dbm_iter_next(iterator) else { throw lastError() }
                }
                return totals
            }

            @inline(__always)
            private func put(_ value: [UInt8], _ key: String) throws {
                let isDone = try key.withKeyBytes { key, keyCount in
                    value.withValueBytes {
                        tkrzw_dbm_set(engine.database, key, Int32(keyCount), $0, Int32($1), true)
                    }
                }
                guard isDone else { throw lastError() }
            }

            private func synchronize() throws {
                guard engine.isSynced else { return }
                guard tkrzw_dbm_synchronize(engine.database, true, nil, nil, "") else {
                    throw lastError()
                }
            }
        }
    }

    /// What a look at a record in place has found.
    private struct FoundWord {
        var word: UInt64 = 0
        var sizeBytes: Int32 = -1

        mutating func note(_ value: UnsafePointer<CChar>, _ count: Int32) {
            sizeBytes = count
            guard count >= 8 else { return }
            word = UInt64(littleEndian: UnsafeRawPointer(value).loadUnaligned(as: UInt64.self))
        }
    }

    private func lastError() -> BenchError {
        BenchError("Tkrzw: \(String(cString: tkrzw_get_last_status_message()))")
    }
#endif
