/// Which way an ordered scan goes, by the bytes of the keys.
public enum ScanOrder: Sendable, Hashable {
    case ascending
    case descending
}
