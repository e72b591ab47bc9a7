/// The names of the files in a workspace. docs/FORMAT.md lists them.
package enum FileName: Hashable, Sendable {
    case manifest
    /// The next manifest, until it is renamed.
    case newManifest
    case segment(UInt64)
    case snapshot(UInt64)
    /// A snapshot that is being written.
    case unfinishedSnapshot(UInt64)
    /// What recovery cut off a segment: the segment's number and the offset of the cut.
    case tornTail(segment: UInt64, offset: UInt64)
    /// A torn tail that is being written.
    case unfinishedTornTail(segment: UInt64, offset: UInt64)

    package var text: String {
        switch self {
        case .manifest: "MANIFEST"
        case .newManifest: "MANIFEST.new"
        case .segment(let number): "log-\(padded(number))"
        case .snapshot(let number): "snapshot-\(padded(number))"
        case .unfinishedSnapshot(let number): "snapshot-\(padded(number)).new"
        case .tornTail(let segment, let offset): "torn-\(padded(segment))-\(padded(offset))"
        case .unfinishedTornTail(let segment, let offset):
            "torn-\(padded(segment))-\(padded(offset)).new"
        }
    }

    package init?(_ text: String) {
        var rest = Substring(text)
        let isNew = rest.hasSuffix(".new")
        if isNew { rest = rest.dropLast(4) }
        let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
        // A number that counting up from could overflow is nobody's.
        let numbers = parts.dropFirst().map { UInt64($0).flatMap { $0 < Limits.number ? $0 : nil } }
        switch (parts.first, numbers.count, isNew) {
        case ("MANIFEST", 0, false): self = .manifest
        case ("MANIFEST", 0, true): self = .newManifest
        case ("log", 1, false):
            guard let number = numbers[0] else { return nil }
            self = .segment(number)
        case ("snapshot", 1, _):
            guard let number = numbers[0] else { return nil }
            self = isNew ? .unfinishedSnapshot(number) : .snapshot(number)
        case ("torn", 2, _):
            guard let segment = numbers[0], let offset = numbers[1] else { return nil }
            self =
                isNew
                ? .unfinishedTornTail(segment: segment, offset: offset)
                : .tornTail(segment: segment, offset: offset)
        default: return nil
        }
        guard self.text == text else { return nil }
    }
}

private func padded(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
}
