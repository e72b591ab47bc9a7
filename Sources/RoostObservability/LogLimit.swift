#if Observability
    import Logging
    import Synchronization

    /// Lines that come in crowds: at most ten are written in ten seconds, and the next one says how many were left out.
    final class LogLimit: Sendable {
        private struct Lines {
            var periodBegin = ContinuousClock.now
            var count = 0
            var omittedCount = 0
        }

        private let lines = Mutex(Lines())
        private static let lineLimit = 10
        private static let period = Duration.seconds(10)

        /// The metadata of a line that is to be written; `nil` where it is left out.
        func admit(_ metadata: Logger.Metadata) -> Logger.Metadata? {
            let omittedCount = lines.withLock { lines -> Int? in
                let now = ContinuousClock.now
                if now - lines.periodBegin >= Self.period {
                    lines.periodBegin = now
                    lines.count = 0
                }
                guard lines.count < Self.lineLimit else {
                    lines.omittedCount += 1
                    return nil
                }
                lines.count += 1
                defer { lines.omittedCount = 0 }
                return lines.omittedCount
            }
            guard let omittedCount else { return nil }
            var metadata = metadata
            if omittedCount > 0 { metadata["roost.omitted_lines"] = "\(omittedCount)" }
            return metadata
        }
    }

    extension Duration {
        /// Milliseconds with three digits behind the point.
        var logValue: Logger.MetadataValue { "\(Double(nanoseconds / 1000) / 1000)" }
    }
#endif
