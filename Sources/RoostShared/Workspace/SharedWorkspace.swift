import Foundation
import Roost
import RoostFormat
import RoostIO

/// A workspace that an existing distributed engine keeps, for those who have outgrown one process: the
/// dictionaries, keys, transactions and watching of a `Workspace`, shared by every process that
/// connects to the same namespace.
///
/// ```swift
/// let workspace = try await SharedWorkspace.connect(to: .etcd(endpoints: […]), namespace: "shop")
/// let sessions = workspace.dictionary("sessions")
/// try await sessions.set(session, forKey: "s1", expiresIn: .seconds(1800))
/// ```
///
/// - Reads are linearizable, writes and transactions strictly serializable and acknowledged by the engine's
///   quorum when they return.
/// - Every call has a deadline, can be cancelled, and where nobody can be reached is `.unavailable`: an engine
///   that does not answer is never taken for one that has nothing.
/// - A write whose answer was lost is found out about before the call returns; `.unknownOutcome` is thrown only
///   where the engine cannot be reached until the deadline.
/// - Values stand there in the form in which a `Workspace` stores them.
public final class SharedWorkspace: KeyValueWorkspace {
    /// What the workspace and its dictionaries call.
    package let connection: SharedConnectionState
    /// How long each call may take.
    public let callDeadline: Duration

    /// What all who use the same engine have in common.
    public var namespace: String { connection.keys.namespace }

    init(_ connection: SharedConnectionState, callDeadline: Duration) {
        self.connection = connection
        self.callDeadline = callDeadline
    }

    /// Connects to an engine, and makes the namespace where there is none.
    ///
    /// - Parameters:
    ///   - target: which engine, where, and with which credentials: `.etcd(…)`, `.postgres(…)`, `.memory(…)`.
    ///   - namespace: what the keys of this workspace begin with: 1 to 128 bytes.
    ///   - configuration: deadlines and coders.
    /// - Throws: `.unavailable` where nobody answers within the deadline; `.notPermitted`; `.keyTooLarge` where
    ///   the namespace's name is empty or has more than 128 bytes;
    ///   `.unsupportedVersion` where the server is too old, or the namespace has keys that another program, or
    ///   a newer version of this one, wrote. Where the configuration ``Configuration/connectsLazily``, the calls throw
    ///   this, and connecting only says that the namespace's name is too long.
    public static func connect(
        to target: SharedTarget, namespace: String, configuration: Configuration = .init()
    ) async throws -> SharedWorkspace {
        let clock = SharedClock(configuration.clock)
        let format = SharedFormat(try SharedKeys(namespace: namespace))
        let engine: any SharedEngine
        if configuration.connectsLazily {
            engine = LazyEngine(attemptLimit: configuration.callDeadline) { deadline in
                try await Self.engine(of: target, format, clock, configuration, before: deadline)
            }
        } else {
            engine = try await Self.engine(
                of: target, format, clock, configuration,
                before: end(of: configuration.callDeadline))
        }
        return SharedWorkspace(
            SharedConnectionState(engine, format, clock, configuration.coder),
            callDeadline: configuration.callDeadline)
    }

    /// Connects, looks whether the namespace can be read, and at the engine's clock.
    private static func engine(
        of target: SharedTarget, _ format: SharedFormat, _ clock: SharedClock,
        _ configuration: Configuration, before deadline: ContinuousClock.Instant
    ) async throws -> any SharedEngine {
        let engine = try await target.connect(deadline)
        do {
            try await format.check(
                engine, makes: configuration.makesNamespace, before: deadline)
            try await clock.adjust(to: engine, before: deadline)
            return engine
        } catch {
            await engine.close()
            throw error
        }
    }

    /// The dictionary called `name`: a key space of its own. Any name up to 255 UTF-8 bytes. Costs
    /// nothing and touches nothing.
    public func dictionary(_ name: String) -> SharedDictionary {
        SharedDictionary(workspace: self, name: name)
    }

    /// What time it is by the clock that values expire by: the engine's, where it tells one. Asks nobody, but where a
    /// workspace that connects lazily has not connected yet.
    ///
    /// - Throws: as ``revision``, where nobody was reached yet.
    public var currentDate: Date {
        get async throws {
            try await connection.connect(before: callEnd)
            return Date(milliseconds: connection.clock.milliseconds)
        }
    }

    /// The same workspace, whose calls may take so long and no longer.
    public func withCallDeadline(_ duration: Duration) -> SharedWorkspace {
        SharedWorkspace(connection, callDeadline: duration)
    }

    /// What the engine takes at once. As if it took everything before a workspace that connects lazily has.
    public var limits: SharedLimits { connection.engine.limits }

    /// The revision of the newest commit, by anybody. Linearizable; one request.
    ///
    /// - Throws: `.unavailable`, `.notPermitted`, `.cancelled`, `.closed`.
    public var revision: UInt64 {
        get async throws {
            let read = SharedRead(SharedKeyRange(connection.keys.format))
            return try await connection.read(read, before: callEnd).revision
        }
    }

    /// Gives the connections back. Calls under way end with `.closed`, writes that were sent and not answered with
    /// `.unknownOutcome`; watchers end, and later calls throw `.closed`. What was acknowledged stays.
    public func close() async { await connection.engine.close() }

    /// When a call that begins now has to end.
    var callEnd: ContinuousClock.Instant { Self.end(of: callDeadline) }

    /// Of a duration that is as good as for ever, no clock knows the end.
    static func end(of duration: Duration) -> ContinuousClock.Instant {
        .now + min(duration, .seconds(1 << 32))
    }

    /// How a shared workspace is connected to.
    public struct Configuration: Sendable {
        /// How long each call may take, ``SharedWorkspace/connect(to:namespace:configuration:)`` included.
        public var callDeadline: Duration
        /// How `Codable` values become bytes.
        public var coder: ValueCoder
        /// What tells the time for values that expire, where the engine does not, and until it has.
        public var clock: WallClock

        /// Whether connecting returns at once, without asking anybody, for what is to begin without a network: a
        /// ``SyncedRepository``, or ``SharedWorkspace/follow(_:in:loading:)`` of what was loaded before. The first call
        /// connects then, and each later one until somebody has answered.
        public var connectsLazily: Bool

        /// Whether a namespace that is not there is made. Connecting throws `.io` where it is not to be.
        package var makesNamespace = true

        /// The defaults suit a server; each argument is the property of its name.
        public init(
            callDeadline: Duration = .seconds(10), coder: ValueCoder = .roost,
            clock: WallClock = .system, connectsLazily: Bool = false
        ) {
            self.callDeadline = callDeadline
            self.coder = coder
            self.clock = clock
            self.connectsLazily = connectsLazily
        }
    }
}

/// What is behind it has passwords and tokens, and no dump of a workspace, or of what refers to one, is to have them.
extension SharedWorkspace: CustomReflectable {
    public var customMirror: Mirror {
        Mirror(self, children: ["namespace": namespace, "callDeadline": callDeadline])
    }
}

/// Which engine a shared workspace connects to. Each engine's module adds a function that makes one.
public struct SharedTarget: Sendable {
    package let connect: @Sendable (ContinuousClock.Instant) async throws -> any SharedEngine

    /// - Parameter connect: connects, until the instant at the latest.
    public init(
        _ connect: @escaping @Sendable (ContinuousClock.Instant) async throws -> any SharedEngine
    ) {
        self.connect = connect
    }

    /// An engine that is there already, such as one under test.
    public static func engine(_ engine: any SharedEngine) -> SharedTarget {
        SharedTarget { _ in engine }
    }
}
