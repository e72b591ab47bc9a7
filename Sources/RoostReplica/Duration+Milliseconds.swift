#if Replica
    extension Duration {
        /// 139 years where it is longer: of these an `Int64` holds the nanoseconds too, which timers count.
        var asSleep: Duration { min(self, .milliseconds(1 << 42)) }

        /// Rounded down; zero where it is negative, and as `asSleep` at the most.
        var milliseconds: UInt64 {
            let (seconds, attoseconds) = asSleep.components
            guard seconds >= 0, attoseconds >= 0 else { return 0 }
            return UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
        }
    }
#endif
