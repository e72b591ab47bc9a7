#if Peers
    import CRocksDB

    /// RocksDB through its C API.
    ///
    /// `@unchecked Sendable`: a RocksDB handle may be used by all threads, the options are only
    /// read, and all are `let`.
    final class RocksDBEngine: KeyValueEngine, @unchecked Sendable {
        static let name = "rocksdb"
        static let settings =
            "10-bit filters, LZ4, 64 MiB memtables, 512 MiB cache, 2 background jobs"
        static let abilities = EngineAbilities()

        fileprivate let database: OpaquePointer
        fileprivate let writing: OpaquePointer
        fileprivate let reading: OpaquePointer
        private let options: OpaquePointer
        private let cache: OpaquePointer

        private init(_ path: String, _ durability: RowDurability) throws {
            options = rocksdb_options_create()
            cache = rocksdb_cache_create_lru(512 << 20)
            let tables = rocksdb_block_based_options_create()
            // The table options take the filter over, and share the cache.
            rocksdb_block_based_options_set_filter_policy(
                tables, rocksdb_filterpolicy_create_bloom_full(10))
            rocksdb_block_based_options_set_block_cache(tables, cache)
            rocksdb_options_set_block_based_table_factory(options, tables)
            rocksdb_block_based_options_destroy(tables)
            rocksdb_options_set_create_if_missing(options, 1)
            rocksdb_options_set_write_buffer_size(options, 64 << 20)
            rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
            rocksdb_options_set_max_background_jobs(options, 2)
            writing = rocksdb_writeoptions_create()
            rocksdb_writeoptions_set_sync(writing, durability == .synced ? 1 : 0)
            reading = rocksdb_readoptions_create()
            var error: UnsafeMutablePointer<CChar>?
            let database = rocksdb_open(options, path, &error)
            try check(error)
            self.database = database!
        }

        static func open(at path: String, options: EngineOptions) throws -> RocksDBEngine {
            try RocksDBEngine(path, options.durability)
        }

        func makeClient() -> Client { Client(engine: self) }
        func compact() { rocksdb_compact_range(database, nil, 0, nil, 0) }

        func close() {
            rocksdb_close(database)
            rocksdb_writeoptions_destroy(writing)
            rocksdb_readoptions_destroy(reading)
            rocksdb_options_destroy(options)
            rocksdb_cache_destroy(cache)
        }

        struct Client: KeyValueClient {
            fileprivate let engine: RocksDBEngine

            func set(_ value: [UInt8], forKey key: String) throws {
                var error: UnsafeMutablePointer<CChar>?
                try key.withKeyBytes { key, keyCount in
                    value.withValueBytes {
                        rocksdb_put(engine.database, engine.writing, key, keyCount, $0, $1, &error)
                    }
                }
                try check(error)
            }

            func word(forKey key: String) throws -> UInt64? {
                var error: UnsafeMutablePointer<CChar>?
                let pinned = try key.withKeyBytes { key, keyCount in
                    rocksdb_get_pinned(engine.database, engine.reading, key, keyCount, &error)
                }
                try check(error)
                guard let pinned else { return nil }
                defer { rocksdb_pinnableslice_destroy(pinned) }
                var count = 0
                let value = rocksdb_pinnableslice_value(pinned, &count)
                return try valueWord(UnsafeRawBufferPointer(start: value, count: count))
            }

            func setAll(_ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>) throws {
                let batch = rocksdb_writebatch_create()
                defer { rocksdb_writebatch_destroy(batch) }
                for (key, value) in zip(keys, values) {
                    try key.withKeyBytes { key, keyCount in
                        value.withValueBytes {
                            rocksdb_writebatch_put(batch, key, keyCount, $0, $1)
                        }
                    }
                }
                var error: UnsafeMutablePointer<CChar>?
                rocksdb_write(engine.database, engine.writing, batch, &error)
                try check(error)
            }

            func scan(from key: String?, limit: Int, makesEntries: Bool) throws -> ScanTotals {
                let iterator = rocksdb_create_iterator(engine.database, engine.reading)
                defer { rocksdb_iter_destroy(iterator) }
                if let key {
                    try key.withKeyBytes { rocksdb_iter_seek(iterator, $0, $1) }
                } else {
                    rocksdb_iter_seek_to_first(iterator)
                }
                var totals = ScanTotals()
                while totals.entries < limit, rocksdb_iter_valid(iterator) != 0 {
                    var count = 0
                    let value = rocksdb_iter_value(iterator, &count)
                    try totals.add(
                        .init(start: value, count: count), makesEntry: makesEntries,
                        key: .init(start: rocksdb_iter_key(iterator, &count), count: count))
                    rocksdb_iter_next(iterator)
                }
                var error: UnsafeMutablePointer<CChar>?
                rocksdb_iter_get_error(iterator, &error)
                try check(error)
                return totals
            }
        }
    }

    @inline(__always)
    private func check(_ error: UnsafeMutablePointer<CChar>?) throws {
        guard let error else { return }
        defer { rocksdb_free(error) }
        throw BenchError("RocksDB: \(String(cString: error))")
    }
#endif
