#if Services
    public import Foundation
    public import Logging
    import Roost
    public import ServiceLifecycle

    /// Jobs that come back: at each of some moments one job is enqueued, by whichever process is the first to see that it has come.
    ///
    /// ```swift
    /// let reports = JobQueue<Report>(workspace, name: "reports")
    /// let nightly = JobSchedule(
    ///     reports, named: "nightly", at: .matching(DateComponents(hour: 3), in: berlin), logger: logger
    /// ) { moment in Report(day: moment) }
    /// ```
    ///
    /// - The queue's workspace keeps, under the schedule's name, the newest moment that a job was enqueued for. Both are
    ///   changed in one transaction: so each moment has one job, however many processes keep the schedule, and whatever dies.
    /// - The first keeping of a schedule begins it: its first job is that of the first moment after that.
    /// - Of the moments that were missed, as nobody kept the schedule, the last alone has a job.
    /// - A schedule whose moments are changed goes on behind the last one that had a job. Where the clock is set back by
    ///   more than the time between two moments, it begins anew.
    public struct JobSchedule<Payload: Codable & Sendable>: Service {
        private let queue: JobQueue<Payload>
        private let name: String
        private let moments: JobMoments
        private let logger: Logger
        private let payload: @Sendable (Date) -> Payload

        /// - Parameters:
        ///   - name: Of the schedule, among those of the queue. A job's identifier is this, `@` and its moment, as in
        ///     `nightly@2026-11-27T02:00:00Z`.
        ///   - payload: Makes the job of a moment. It may be called again where another process was first.
        public init(
            _ queue: JobQueue<Payload>, named name: String, at moments: JobMoments, logger: Logger,
            _ payload: @escaping @Sendable (Date) -> Payload
        ) {
            self.queue = queue
            self.name = name
            self.moments = moments
            self.logger = logger
            self.payload = payload
        }

        /// Enqueues the jobs of moments as they come, until the shutdown. Where the queue cannot be written to it says so in the
        /// log, and tries again. Throws `.closed`, `.poisoned` and `.readOnly`; where its task is cancelled, what the queue's calls
        /// throw then.
        public func run() async throws {
            try await WorkspaceUses.during(queue.workspace) {
                try await ServiceLoop.untilShutdown(
                    logger, onFailure: "the schedule's job cannot be enqueued: it is tried again"
                ) {
                    let (_, next) = try await keep()
                    guard let next else { return Self.longestPause }
                    let seconds = try await next.timeIntervalSince(queue.now())
                    // Not much longer at once, as clocks may be set meanwhile; and for a moment more than it takes, as timers may
                    // be early.
                    return min(.seconds(max(seconds, 0)) + .milliseconds(5), Self.longestPause)
                }
            }
        }

        private static var longestPause: Duration { .seconds(60) }

        /// Enqueues a job where one is due: for whoever has a loop of their own. The first call begins the schedule.
        ///
        /// - Returns: The moment of the job; `nil` where none was due, or another process was first.
        /// - Throws: As `enqueue` of the queue.
        @discardableResult
        public func enqueueDue() async throws -> Date? { try await keep().enqueued }

        private func keep() async throws -> (enqueued: Date?, next: Date?) {
            try await queue.inTransaction(
                DueMoment(name: name, moments: moments, payload: payload))
        }
    }

    /// Enqueues the job of the last moment that has come, where it has none.
    private struct DueMoment<Payload: Codable & Sendable>: JobChange {
        let name: String
        let moments: JobMoments
        let payload: @Sendable (Date) -> Payload

        nonisolated(nonsending) func make(
            in attempt: JobAttempt<Payload, some KeyValueTransaction>
        ) async throws -> (enqueued: Date?, next: Date?) {
            let now = attempt.now
            let nextOfNow = moments.next(after: now)
            guard let last = try await attempt.lastMoment(of: name),
                // It is later where the clock was set back since, and by more than a moment's distance.
                nextOfNow.map({ last <= $0 }) ?? true
            else {
                try attempt.setLastMoment(now, of: name)
                return (nil, nextOfNow)
            }
            let next = moments.next(after: last)
            guard let next, next <= now else { return (nil, next) }
            let moment = max(moments.last(through: now) ?? next, next)
            try await attempt.add(
                payload(moment), "\(name)@\(moment.formatted(.iso8601))", .zero)
            try attempt.setLastMoment(moment, of: name)
            return (moment, moments.next(after: moment))
        }
    }
#endif
