#if Peers
    import GRDB

    extension DatabasePool {
        /// A pool whose connections all sync as the row asks.
        convenience init(
            path: String, configuration: Configuration, durability: RowDurability
        ) throws {
            let setting = "PRAGMA synchronous = " + (durability == .synced ? "FULL" : "NORMAL")
            var configuration = configuration
            configuration.prepareDatabase { try $0.execute(sql: setting) }
            try self.init(path: path, configuration: configuration)
            // Once more: a pool sets NORMAL when it turns WAL on, after its connections are prepared.
            try writeWithoutTransaction { try $0.execute(sql: setting) }
        }
    }
#endif
