/// Runs `body`, and returns the longest time meanwhile in which this process stood still, or had no thread for a task.
func longestPause(during body: () async throws -> Void) async throws -> Duration {
    let measuring = Task {
        var longest = Duration.zero
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            try? await Task.sleep(for: .milliseconds(10))
            longest = max(longest, ContinuousClock.now - begin)
        }
        return longest
    }
    defer { measuring.cancel() }
    try await body()
    measuring.cancel()
    return await measuring.value
}
