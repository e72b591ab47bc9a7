import RoostFormat
import RoostIO

/// Looks for the footer of a snapshot whose file does not end with a sound one. For salvage alone: an opening
/// refuses such a file.
///
/// Of a sealed file only what its chunks' tags hold of is looked at.
struct FooterSearch {
    let region: MappedRegion
    /// Of the snapshot: a value may itself be the copy of another.
    let number: UInt64

    private static let pieceSizeBytes = 1 << 20
    private static var sizeBytes: Int { SnapshotFooter.sizeBytes }
    private static var checkedSizeBytes: Int { SnapshotFooter.checkedSizeBytes }

    // MARK: Of a file that grew

    /// A footer that is sound as it stands, before the end of a file that grew.
    func soundFooter() -> SnapshotFooter? {
        var upper = region.sizeBytes
        while upper > SnapshotFooter.headerSizeBytes {
            let lower = max(SnapshotFooter.headerSizeBytes, upper - Self.pieceSizeBytes)
            let end = min(region.sizeBytes, upper + Self.sizeBytes - 1)
            if let footer = lastFooter(in: lower..<end) { return footer }
            upper = lower
        }
        return nil
    }

    private func lastFooter(in range: Range<Int>) -> SnapshotFooter? {
        guard range.count >= Self.sizeBytes, let copy = copied(range) else { return nil }
        return copy.withUnsafeBytes { bytes in
            for place in stride(from: bytes.count - Self.sizeBytes, through: 0, by: -1)
            where bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                == UInt64(littleEndian: SnapshotFooter.magic)
            {
                let footer = UnsafeRawBufferPointer(
                    rebasing: bytes[place..<(place + Self.sizeBytes)])
                if let found = checked(footer, at: range.lowerBound + place) { return found }
            }
            return nil
        }
    }

    /// `nil` where a part cannot be read: then no footer in it can be believed, and the salvage says why the snapshot
    /// is lost.
    private func copied(_ range: Range<Int>) -> [UInt8]? {
        do { return try region.copy(range) } catch { return nil }
    }

    /// A footer whose checksum holds, which is this snapshot's, and whose parts fit a file that ends with it.
    private func checked(_ footer: UnsafeRawBufferPointer, at place: Int) -> SnapshotFooter? {
        let reading = SnapshotFooter.read(
            header: nil, footer: footer, fileSizeBytes: UInt64(place + Self.sizeBytes))
        guard case .valid(let found) = reading, found.number == number else { return nil }
        return found
    }

    // MARK: Of a footer that is not whole

    /// The footer where up to three bytes were cut off the file, or one byte of it was changed. Believed on less than a
    /// checksum of four bytes: to be held against something else.
    func amendedFooter() -> SnapshotFooter? { cutFooter() ?? changedFooter() }

    /// What was cut is of the checksum, and what is left of that holds.
    private func cutFooter() -> SnapshotFooter? {
        for leftCount in stride(from: 3, through: 1, by: -1) {
            let place = region.sizeBytes - Self.checkedSizeBytes - leftCount
            guard place >= SnapshotFooter.headerSizeBytes,
                let copy = copied(place..<region.sizeBytes)
            else { continue }
            let checksum = copy.withUnsafeBytes {
                SnapshotFooter.checksum(ofFooter: $0.baseAddress!)
            }
            let whole = copy[..<Self.checkedSizeBytes] + Self.bytes(of: checksum)
            guard whole.starts(with: copy) else { continue }
            if let found = Array(whole).withUnsafeBytes({ checked($0, at: place) }) {
                return found
            }
        }
        return nil
    }

    private static func bytes(of checksum: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
    }

    /// The checksum finds every change of one byte, and so says which byte it was: where two changes would do, it was
    /// more than one.
    private func changedFooter() -> SnapshotFooter? {
        let place = region.sizeBytes - Self.sizeBytes
        guard place >= SnapshotFooter.headerSizeBytes,
            var footer = copied(place..<region.sizeBytes)
        else { return nil }
        return footer.withUnsafeMutableBytes { bytes in
            var found: SnapshotFooter?
            for index in bytes.indices {
                let original = bytes[index]
                defer { bytes[index] = original }
                for change in UInt8(1)...255 {
                    bytes[index] = original ^ change
                    guard let amended = checked(UnsafeRawBufferPointer(bytes), at: place) else {
                        continue
                    }
                    if found != nil { return nil }
                    found = amended
                }
            }
            return found
        }
    }
}
