#if Services
    import Roost

    /// A value that expires unless its holder renews it, and a number that is one more for each holder: what at most one has
    /// at a time.
    struct TermLease: Sendable {
        let workspace: any KeyValueWorkspace
        let dictionary: String
        let name: String
        let holder: String
        let duration: Duration

        /// What stands in the workspace.
        private struct Stored: Codable, Sendable {
            var candidate: String
            /// Of one holding: those of one name are told apart by it.
            var term: UInt64
        }

        private var leaseKey: String { "\(name).lease" }
        private var termKey: String { "\(name).term" }

        /// Who has it, as far as the workspace knows; `nil` where nobody does.
        func current() async throws -> Leadership.Leader? {
            try await workspace.dictionary(dictionary).load(leaseKey, as: Stored.self)
                .map { Leadership.Leader(candidate: $0.candidate, term: $0.term) }
        }

        /// The new term; `nil` where another has it.
        func take() async throws -> Leadership.Term? {
            // A transaction that is to be on disk waits for that also where it has changed nothing.
            if workspace is Workspace, try await current() != nil { return nil }
            return try await take(in: workspace)
        }

        private func take(in workspace: some KeyValueWorkspace) async throws -> Leadership.Term? {
            let leases = workspace.dictionary(dictionary)
            // On disk before anybody is told of it: a power cut must not have the number given twice.
            return try await workspace.transaction(durability: .synced) { attempt in
                if try await attempt.contains(leaseKey, in: leases) { return nil }
                let number = try await Leadership.Term.newest(termKey, leases, in: attempt) + 1
                try attempt.set(number, forKey: termKey, in: leases)
                try attempt.set(
                    Stored(candidate: holder, term: number), forKey: leaseKey, in: leases,
                    expiresIn: duration)
                return Leadership.Term(number: number, key: termKey, leases: leases)
            }
        }

        /// - Throws: ``LeadershipLost`` where another has had it since; what a transaction throws.
        func renew(_ term: Leadership.Term) async throws {
            let lease = Stored(candidate: holder, term: term.number)
            try await replace(with: lease, term, in: workspace)
        }

        /// - Throws: as `renew`.
        func giveBack(_ term: Leadership.Term) async throws {
            try await replace(with: nil, term, in: workspace)
        }

        private func replace(
            with lease: Stored?, _ term: Leadership.Term, in workspace: some KeyValueWorkspace
        ) async throws {
            let leases = workspace.dictionary(dictionary)
            try await workspace.transaction { attempt in
                // Where nobody has taken it since, one that has expired is this one's still.
                try await term.confirm(in: attempt)
                if let lease {
                    try attempt.set(lease, forKey: leaseKey, in: leases, expiresIn: duration)
                } else {
                    try attempt.removeValue(forKey: leaseKey, in: leases)
                }
            }
        }
    }
#endif
