import Testing

/// Waits until something comes to hold; an issue where it has not within a minute.
func eventually(
    _ comment: @autoclosure () -> Comment = "it did not come to hold",
    sourceLocation: SourceLocation = #_sourceLocation, _ holds: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !holds() {
        guard ContinuousClock.now < end else {
            Issue.record(comment(), sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
