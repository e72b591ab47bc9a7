/// Which way an ordered scan goes, by the bytes of the keys.
public enum ScanOrder: Sendable, Hashable {
    /// The least key first.
    case ascending
    /// The greatest key first.
    case descending
}
