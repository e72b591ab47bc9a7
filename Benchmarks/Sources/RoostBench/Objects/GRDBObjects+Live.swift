#if Peers
    import Foundation
    import GRDB

    extension GRDBObjects: LiveObjectEngine {
        typealias Watch = AnyDatabaseCancellable
        static let tellsWhatIsTouched = false

        private static let queue = DispatchQueue(label: "observations")

        func watchObject(
            _ id: Int, _ told: @escaping @Sendable (RecordPost) -> Void
        ) -> AnyDatabaseCancellable {
            start(ValueObservation.trackingConstantRegion { try RecordPost.fetchOne($0, key: id) })
            { post in
                if let post { told(post) }
            }
        }

        func watch(
            prioritized range: Range<Int>, _ told: @escaping @Sendable ([RecordPost]) -> Void
        ) -> AnyDatabaseCancellable {
            start(
                ValueObservation.trackingConstantRegion {
                    try Self.prioritized(range).fetchAll($0)
                }, told)
        }

        private func start<Value: Sendable>(
            _ observation: ValueObservation<ValueReducers.Fetch<Value>>,
            _ told: @escaping @Sendable (Value) -> Void
        ) -> AnyDatabaseCancellable {
            observation.start(
                in: pool, scheduling: .async(onQueue: Self.queue),
                onError: { fatalError("an observation failed: \($0)") }, onChange: told)
        }

        func end(_ watches: [AnyDatabaseCancellable]) async {
            for watch in watches { watch.cancel() }
        }

        func changeAll(
            _ ids: Range<Int>, _ body: @escaping @Sendable (inout RecordPost) -> Void
        ) throws {
            try pool.write { database in
                for id in ids {
                    guard var post = try RecordPost.fetchOne(database, key: id) else {
                        throw BenchError("no post \(id)")
                    }
                    try post.updateChanges(database, modify: body)
                }
            }
        }
    }
#endif
