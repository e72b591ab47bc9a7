/// The names of the files in a workspace. docs/FORMAT.md lists them.
package enum FileName: Hashable, Sendable {
    case manifest
    /// The next manifest, until it is renamed.
    case newManifest
    /// Memory that a writer and its readers share; says nothing of what is stored.
    case signals
    case segment(UInt64)
    case snapshot(UInt64)
    /// A snapshot that is being written.
    case unfinishedSnapshot(UInt64)
    /// What recovery cut off a segment: the segment's number and the offset of the cut; and which it is of those that
    /// were cut off there, as a number may be given to another segment.
    case tornTail(segment: UInt64, offset: UInt64, copy: UInt64 = 0)
    /// A torn tail that is being written.
    case unfinishedTornTail(segment: UInt64, offset: UInt64)

    package var text: String {
        switch self {
        case .manifest: "MANIFEST"
        case .newManifest: "MANIFEST.new"
        case .signals: "SIGNALS"
        case .segment(let number): "log-\(padded(number))"
        case .snapshot(let number): "snapshot-\(padded(number))"
        case .unfinishedSnapshot(let number): "snapshot-\(padded(number)).new"
        case .tornTail(let segment, let offset, let copy):
            "torn-\(padded(segment))-\(padded(offset))" + (copy == 0 ? "" : "-\(padded(copy))")
        case .unfinishedTornTail(let segment, let offset):
            "torn-\(padded(segment))-\(padded(offset)).new"
        }
    }

    /// The file that `text` is the name of, written as `text` writes it; every opening asks it of
    /// each file, some times over.
    package init?(_ text: String) {
        var text = text
        let name = text.withUTF8 { bytes in
            var scanner = NameScanner(rest: bytes[...])
            return Self(&scanner)
        }
        guard let name else { return nil }
        self = name
    }

    private init?(_ scanner: inout NameScanner) {
        if scanner.takes("MANIFEST") {
            self = scanner.takes(".new") ? .newManifest : .manifest
        } else if scanner.takes("SIGNALS") {
            self = .signals
        } else if scanner.takes("log-"), let number = scanner.number() {
            self = .segment(number)
        } else if scanner.takes("snapshot-"), let number = scanner.number() {
            self = scanner.takes(".new") ? .unfinishedSnapshot(number) : .snapshot(number)
        } else if scanner.takes("torn-"), let segment = scanner.number(), scanner.takes("-"),
            let offset = scanner.number()
        {
            if scanner.takes(".new") {
                self = .unfinishedTornTail(segment: segment, offset: offset)
            } else if scanner.takes("-") {
                guard let copy = scanner.number(), copy > 0 else { return nil }
                self = .tornTail(segment: segment, offset: offset, copy: copy)
            } else {
                self = .tornTail(segment: segment, offset: offset)
            }
        } else {
            return nil
        }
        if !scanner.rest.isEmpty { return nil }
    }
}

/// Says of a directory which history of a copy it follows. It is no file of a workspace: what opens one for
/// writing refuses a directory that has it.
package let followedMarkName = "FOLLOWED"

private let digitCount = 12

/// What is left to be read of a name.
private struct NameScanner {
    var rest: Slice<UnsafeBufferPointer<UInt8>>

    /// Whether `text` comes next, and then goes after it.
    mutating func takes(_ text: StaticString) -> Bool {
        let bytes = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.starts(with: bytes) else { return false }
        rest = rest.dropFirst(bytes.count)
        return true
    }

    /// Digits as `padded` writes them. A number that counting up from could overflow is nobody's.
    mutating func number() -> UInt64? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count >= digitCount,
            digits.count == digitCount || digits.first != UInt8(ascii: "0")
        else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            let (tenfold, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = tenfold.addingReportingOverflow(
                UInt64(digit - UInt8(ascii: "0")))
            if overflows || overflowsToo { return nil }
            number = sum
        }
        rest = rest.dropFirst(digits.count)
        return number < Limits.number ? number : nil
    }
}

private func padded(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, digitCount - digits.count)) + digits
}
