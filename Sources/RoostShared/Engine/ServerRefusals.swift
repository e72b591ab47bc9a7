/// Servers of one engine that let the client not in, as one call meets them. One may be set up otherwise than the others, as
/// with a certificate that has expired, or as a standby that has other rules; that is no reason not to ask these.
package struct ServerRefusals<Server: Hashable & Sendable>: Sendable {
    private let serverCount: Int
    private let patience: Duration
    private var servers: Set<Server> = []
    private var begin: ContinuousClock.Instant?

    /// - Parameters:
    ///   - serverCount: how many there are.
    ///   - patience: how long the others are tried where they cannot be asked.
    package init(of serverCount: Int, patience: Duration) {
        self.serverCount = serverCount
        self.patience = patience
    }

    /// Takes note that a server has refused. Whether the call ends with it: where all have refused, or this one has before,
    /// and the others could not be asked for long.
    package mutating func isFinal(by server: Server) -> Bool {
        let begin = begin ?? .now
        self.begin = begin
        let isKnown = !servers.insert(server).inserted
        return servers.count >= serverCount || isKnown && .now - begin >= patience
    }
}
