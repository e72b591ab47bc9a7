#if Etcd
    import RoostIO
    import RoostShared

    /// etcd as the engine of a shared workspace.
    ///
    /// A revision is etcd's; a read at one is a `Range` at it, a commit one `Txn`, guarded by the `mod_revision`s of
    /// keys and of ranges. All calls go to one endpoint at a time, whichever answers; etcd itself finds the
    /// leader. docs/SHARED.md says more.
    final class EtcdEngine: SharedEngine {
        /// etcd's own defaults: `--max-txn-ops` and `--max-request-bytes`, less what frames the request.
        let limits = SharedLimits(
            operationCount: 128, commitSizeBytes: (3 << 19) - (64 << 10), keySizeBytes: 64 << 10)
        private let endpoints: EtcdEndpoints
        private let leases: EtcdLeases
        private let watches: EtcdWatches

        init(
            _ endpoints: [String], _ credentials: EtcdCredentials,
            before deadline: ContinuousClock.Instant
        ) async throws {
            let endpoints = try EtcdEndpoints(endpoints, credentials)
            self.endpoints = endpoints
            let caller = EtcdCaller(endpoints: endpoints)
            leases = EtcdLeases(caller)
            // Who may not do anything else either is told by the first call.
            do { try await caller.checkVersion(before: deadline) } catch {
                await endpoints.close()
                throw error
            }
            watches = EtcdWatches(endpoints)
        }

        private var caller: EtcdCaller { EtcdCaller(endpoints: endpoints) }

        func read(
            _ read: SharedRead, before deadline: ContinuousClock.Instant
        ) async throws -> SharedPage {
            if read.isDescending {
                // Asked for an order, etcd loads all records of the range, and cuts the page off behind that.
                var descending = DescendingRead(read) { try await self.read($0, before: deadline) }
                return try await descending.page()
            }
            let request = RangeRequest(
                key: read.range.lower, rangeEnd: read.range.upper, limit: Int64(read.limit),
                revision: Int64(clamping: read.revision ?? 0), isKeysOnly: read.isKeysOnly)
            let response: RangeResponse = try await caller.call(.range, request, before: deadline)
            let records = response.keyValues.map { found in
                SharedRecord(
                    key: found.key, value: found.value,
                    revision: UInt64(clamping: found.modRevision), expires: found.lease != 0)
            }
            return SharedPage(
                records: records,
                revision: read.revision ?? UInt64(clamping: response.header.revision),
                hasMore: response.hasMore)
        }

        func commit(
            _ commit: SharedCommit, before deadline: ContinuousClock.Instant
        ) async throws -> SharedOutcome {
            for _ in 0..<2 {
                let request = try await request(commit, before: deadline)
                do {
                    let response: TransactionResponse = try await caller.call(
                        .transaction, request, before: deadline, mayRepeat: false)
                    return response.succeeded
                        ? .committed(revision: UInt64(clamping: response.header.revision))
                        : .conflict
                } catch is LeaseLost {
                    await leases.forgetAll()
                }
            }
            throw RoostError(
                .unavailable, "etcd gave up two leases at once; the write was not made")
        }

        private func request(
            _ commit: SharedCommit, before deadline: ContinuousClock.Instant
        ) async throws -> TransactionRequest {
            var request = TransactionRequest()
            request.compare = commit.guards.map(Compare.init)
            for operation in commit.operations {
                switch operation {
                case .put(let key, let value, let duration):
                    var lease: Int64 = 0
                    if let duration {
                        lease = try await leases.lease(for: duration, before: deadline)
                    }
                    request.success.append(.put(key: key, value: value, lease: lease))
                case .remove(let key):
                    request.success.append(.deleteRange(key: key, rangeEnd: []))
                case .removeRange(let range):
                    request.success.append(.deleteRange(key: range.lower, rangeEnd: range.upper))
                }
            }
            if let mark = commit.mark {
                request.compare.append(Compare(.key(mark.key, revision: mark.revision)))
                let lease = try await leases.lease(for: SharedMark.lifetime, before: deadline)
                request.success.append(.put(key: mark.key, value: mark.value, lease: lease))
            }
            return request
        }

        func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
            let (events, source) = SharedEvents.make()
            let watches = watches
            Task { await watches.add(range, after: revision, source) }
            return events
        }

        /// etcd tells no time.
        func clockMilliseconds(
            before deadline: ContinuousClock.Instant
        ) async throws -> UInt64? {
            nil
        }

        func close() async {
            await watches.close()
            await endpoints.close()
        }

        deinit {
            let (watches, endpoints) = (watches, endpoints)
            Task {
                await watches.close()
                await endpoints.close()
            }
        }
    }

    extension Compare {
        fileprivate init(_ condition: SharedGuard) {
            switch condition {
            case .key(let key, let revision):
                self.init(result: .equal, key: key, modRevision: Int64(clamping: revision))
            case .nothingNewer(let range, let revision):
                self.init(
                    result: .less, key: range.lower, rangeEnd: range.upper,
                    modRevision: Int64(clamping: revision) + 1)
            }
        }
    }

    /// A version of etcd's server.
    struct EtcdVersion {
        let parts: [Int]

        /// - Throws: `.unsupportedVersion` for what is older than 3.4, or no version.
        init(_ text: String) throws {
            parts = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map {
                Int($0) ?? -1
            }
            guard parts.count == 3, parts.allSatisfy({ $0 >= 0 }), !isBefore([3, 4, 0]) else {
                throw RoostError(
                    .unsupportedVersion, "the server says version \"\(text)\"; etcd 3.4 is needed")
            }
        }

        private init(parts: [Int]) { self.parts = parts }

        /// The least that a member may be of that tells its status to administrators alone, as releases of 3.6 do, and of
        /// 3.5 from 3.5.28 on.
        static let withheld = EtcdVersion(parts: [3, 5, 28])

        /// Whether how far the server says that a watch is can be believed: older ones say it before they have
        /// told all that came until there.
        var tellsProgress: Bool { parts[1] == 4 ? !isBefore([3, 4, 25]) : !isBefore([3, 5, 8]) }

        private func isBefore(_ other: [Int]) -> Bool { parts.lexicographicallyPrecedes(other) }
    }
#endif
