extension SharedTarget {
    /// An engine in this process: for tests and previews. Closing a workspace of it closes the engine.
    public static func memory(_ engine: MemoryEngine = MemoryEngine()) -> SharedTarget {
        .engine(engine)
    }
}
