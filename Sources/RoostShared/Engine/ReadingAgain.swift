import RoostIO

/// Runs what reads at one revision, and again where the engine gives that up meanwhile. Where it still does at the end, by
/// default after a minute, reading takes longer than the engine keeps a revision.
///
/// - Throws: what `body` throws; `.compacted` at the end only.
nonisolated(nonsending) func readingAgain<Result>(
    until end: ContinuousClock.Instant = .now + .seconds(60),
    _ body: nonisolated(nonsending) () async throws -> Result
) async throws -> Result {
    while true {
        do { return try await body() } catch let error as RoostError
            where error.code == .compacted && ContinuousClock.now < end
        { continue }
    }
}
