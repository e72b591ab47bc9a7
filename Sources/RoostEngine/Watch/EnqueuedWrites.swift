enum EnqueuedWrites {
    static let firstVersion: UInt64 = 1 << 62
}
