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
            /// Of a workspace in files: the opening in which it was taken. Nobody has that workspace beside an opening,
            /// so that the lease of another one is nobody's, whatever time it is.
            var opening: UInt64?
        }

        private var leaseKey: String { "\(name).lease" }
        private var termKey: String { "\(name).term" }

        private func stored(_ term: UInt64) -> Stored {
            Stored(
                candidate: holder, term: term, opening: (workspace as? Workspace)?.openingNumber)
        }

        /// Whether somebody may have what was stored so. Who only reads a workspace is told of its writer's.
        private func mayBeHeld(_ stored: Stored) -> Bool {
            guard let own = workspace as? Workspace, own.engine.isWritable else { return true }
            return stored.opening == own.openingNumber
        }

        /// Who has it, as far as the workspace knows; `nil` where nobody does.
        func current() async throws -> Leadership.Leader? {
            let found = try await workspace.dictionary(dictionary).load(leaseKey, as: Stored.self)
            guard let found, mayBeHeld(found) else { return nil }
            return Leadership.Leader(candidate: found.candidate, term: found.term)
        }

        /// A term, and a moment before the time of its lease began.
        struct Taken: Sendable {
            let term: Leadership.Term
            let begin: ContinuousClock.Instant
        }

        /// The new term; `nil` where another has it.
        func take() async throws -> Taken? {
            // A transaction that is to be on disk waits for that also where it has changed nothing.
            if workspace is Workspace, try await current() != nil { return nil }
            return try await take(in: workspace)
        }

        private func take(in workspace: some KeyValueWorkspace) async throws -> Taken? {
            let leases = workspace.dictionary(dictionary)
            // On disk before anybody is told of it: a power cut must not have the number given twice.
            return try await workspace.transaction(durability: .synced) { attempt in
                // The lease's time counts from the attempt that takes it, however many others were first before.
                let begin = ContinuousClock.now
                let found = try await attempt.load(leaseKey, as: Stored.self, in: leases)
                if let found, mayBeHeld(found) { return nil }
                let number = try await Leadership.Term.newest(termKey, leases, in: attempt) + 1
                try attempt.set(number, forKey: termKey, in: leases)
                try attempt.set(
                    stored(number), forKey: leaseKey, in: leases, expiresIn: duration)
                let term = Leadership.Term(number: number, key: termKey, leases: leases)
                return Taken(term: term, begin: begin)
            }
        }

        /// - Returns: a moment before the time of the renewed lease began.
        /// - Throws: ``LeadershipLost`` where another has had it since; what a transaction throws.
        func renew(_ term: Leadership.Term) async throws -> ContinuousClock.Instant {
            try await replace(with: stored(term.number), term, in: workspace)
        }

        /// - Throws: as `renew`.
        func giveBack(_ term: Leadership.Term) async throws {
            _ = try await replace(with: nil, term, in: workspace)
        }

        private func replace(
            with lease: Stored?, _ term: Leadership.Term, in workspace: some KeyValueWorkspace
        ) async throws -> ContinuousClock.Instant {
            let leases = workspace.dictionary(dictionary)
            return try await workspace.transaction { attempt in
                let begin = ContinuousClock.now
                // Where nobody has taken it since, one that has expired is this one's still.
                try await term.confirm(in: attempt)
                if let lease {
                    try attempt.set(lease, forKey: leaseKey, in: leases, expiresIn: duration)
                } else {
                    try attempt.removeValue(forKey: leaseKey, in: leases)
                    // A renewal whose answer was lost may yet come. It was guarded by the term as it was, and would leave a
                    // lease that nobody has.
                    try attempt.set(term.number, forKey: termKey, in: leases)
                }
                return begin
            }
        }
    }
#endif
