#if Peers
    import CLevelDB

    /// LevelDB through its C API.
    ///
    /// `@unchecked Sendable`: a LevelDB handle may be used by all threads, the options are only
    /// read, and all are `let`.
    final class LevelDBEngine: KeyValueEngine, @unchecked Sendable {
        static let name = "leveldb"
        static let settings = "10-bit filters, Snappy, 64 MiB write buffer, 512 MiB cache"
        static let abilities = EngineAbilities()

        fileprivate let database: OpaquePointer
        fileprivate let writing: OpaquePointer
        fileprivate let reading: OpaquePointer
        private let options: OpaquePointer
        private let cache: OpaquePointer
        private let filter: OpaquePointer

        private init(_ path: String, _ durability: RowDurability) throws {
            options = leveldb_options_create()
            cache = leveldb_cache_create_lru(512 << 20)
            filter = leveldb_filterpolicy_create_bloom(10)
            leveldb_options_set_create_if_missing(options, 1)
            leveldb_options_set_write_buffer_size(options, 64 << 20)
            leveldb_options_set_cache(options, cache)
            leveldb_options_set_filter_policy(options, filter)
            leveldb_options_set_compression(options, Int32(leveldb_snappy_compression))
            writing = leveldb_writeoptions_create()
            leveldb_writeoptions_set_sync(writing, durability == .synced ? 1 : 0)
            reading = leveldb_readoptions_create()
            var error: UnsafeMutablePointer<CChar>?
            let database = leveldb_open(options, path, &error)
            try check(error)
            self.database = database!
        }

        static func open(at path: String, options: EngineOptions) throws -> LevelDBEngine {
            try LevelDBEngine(path, options.durability)
        }

        func makeClient() -> Client { Client(engine: self) }
        func compact() { leveldb_compact_range(database, nil, 0, nil, 0) }

        func close() {
            leveldb_close(database)
            leveldb_writeoptions_destroy(writing)
            leveldb_readoptions_destroy(reading)
            leveldb_options_destroy(options)
            leveldb_filterpolicy_destroy(filter)
            leveldb_cache_destroy(cache)
        }

        struct Client: KeyValueClient {
            fileprivate let engine: LevelDBEngine

            func set(_ value: [UInt8], forKey key: String) throws {
                var error: UnsafeMutablePointer<CChar>?
                try key.withKeyBytes { key, keyCount in
                    value.withValueBytes {
                        leveldb_put(engine.database, engine.writing, key, keyCount, $0, $1, &error)
                    }
                }
                try check(error)
            }

            func word(forKey key: String) throws -> UInt64? {
                var error: UnsafeMutablePointer<CChar>?
                var count = 0
                let value = try key.withKeyBytes { key, keyCount in
                    leveldb_get(engine.database, engine.reading, key, keyCount, &count, &error)
                }
                try check(error)
                guard let value else { return nil }
                defer { leveldb_free(value) }
                return try valueWord(UnsafeRawBufferPointer(start: value, count: count))
            }

            func setAll(_ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>) throws {
                let batch = leveldb_writebatch_create()
                defer { leveldb_writebatch_destroy(batch) }
                for (key, value) in zip(keys, values) {
                    try key.withKeyBytes { key, keyCount in
                        value.withValueBytes {
                            leveldb_writebatch_put(batch, key, keyCount, $0, $1)
                        }
                    }
                }
                var error: UnsafeMutablePointer<CChar>?
                leveldb_write(engine.database, engine.writing, batch, &error)
                try check(error)
            }

            func scan(from key: String?, limit: Int, makesEntries: Bool) throws -> ScanTotals {
                let iterator = leveldb_create_iterator(engine.database, engine.reading)
                defer { leveldb_iter_destroy(iterator) }
                if let key {
                    try key.withKeyBytes { leveldb_iter_seek(iterator, $0, $1) }
                } else {
                    leveldb_iter_seek_to_first(iterator)
                }
                var totals = ScanTotals()
                while totals.entries < limit, leveldb_iter_valid(iterator) != 0 {
                    var count = 0
                    let value = leveldb_iter_value(iterator, &count)
                    try totals.add(
                        .init(start: value, count: count), makesEntry: makesEntries,
                        key: .init(start: leveldb_iter_key(iterator, &count), count: count))
                    leveldb_iter_next(iterator)
                }
                var error: UnsafeMutablePointer<CChar>?
                leveldb_iter_get_error(iterator, &error)
                try check(error)
                return totals
            }
        }
    }

    @inline(__always)
    private func check(_ error: UnsafeMutablePointer<CChar>?) throws {
        guard let error else { return }
        defer { leveldb_free(error) }
        throw BenchError("LevelDB: \(String(cString: error))")
    }
#endif
