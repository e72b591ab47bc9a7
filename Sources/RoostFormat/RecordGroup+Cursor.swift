/// Reading the records of a group.
extension RecordGroup {
    /// Steps through a group whose checksum holds; still believes no length.
    package struct Cursor {
        private let bytes: UnsafeRawBufferPointer
        private var offset: Int
        private var remaining: Int
        private let baseSequence: UInt64

        /// `nil` where the group's header makes no sense.
        package init?(_ group: UnsafeRawBufferPointer) {
            guard group.count > headerSizeBytes else { return nil }
            bytes = group
            remaining = Int(group[8])
            offset = headerSizeBytes
            guard remaining > 0, let base = Varint.read(bytes, &offset) else { return nil }
            baseSequence = base
        }

        package var isAtEnd: Bool { remaining == 0 }
        var remainingCount: Int { remaining }

        /// The next record; `nil` where the bytes make no sense. Not to be called at the end.
        @inline(__always)
        package mutating func next() -> Record? {
            guard let head = nextHead() else { return nil }
            return record(head)
        }

        /// What stands before a record's bytes; both lengths lie within the group.
        struct Head {
            var flags: Flags
            var shared: Int
            var suffixCount: Int
            var storedCount: Int
            var rawCount: Int
            /// Where the sequence number begins, which few look at.
            var sequenceOffset: Int
            var suffixOffset: Int
        }

        /// Moves past the next record; `nil` where the bytes make no sense. Not to be called at
        /// the end.
        @inline(__always)
        mutating func nextHead() -> Head? {
            guard let head = shortHead() ?? anyHead(), isSound(head) else { return nil }
            offset = head.suffixOffset + head.suffixCount + head.storedCount
            remaining -= 1
            return head
        }

        @inline(__always)
        func suffix(_ head: Head) -> UnsafeRawBufferPointer {
            .init(start: bytes.baseAddress! + head.suffixOffset, count: head.suffixCount)
        }

        @inline(__always)
        func record(_ head: Head) -> Record? {
            var offset = head.sequenceOffset
            guard let delta = Varint.read(bytes, &offset) else { return nil }
            let suffix = suffix(head)
            return Record(
                flags: head.flags, shared: head.shared, suffix: suffix,
                sequence: baseSequence &+ UInt64(bitPattern: Varint.unzigzag(delta)),
                stored: .init(
                    start: suffix.baseAddress! + head.suffixCount, count: head.storedCount),
                rawCount: head.rawCount)
        }

        @inline(__always)
        private func isSound(_ head: Head) -> Bool {
            let keyCount = head.shared + head.suffixCount
            guard keyCount > 0, keyCount <= Limits.recordKeySizeBytes else { return false }
            if head.flags.contains(.put) {
                let least = head.flags.contains(.expires) ? ValueHeader.deadlineSizeBytes : 0
                guard head.storedCount >= least, head.rawCount >= least else { return false }
            } else if !head.flags.contains(.tombstone) || head.flags.contains(.expires) {
                return false
            }
            return bytes.count - head.suffixOffset >= head.suffixCount + head.storedCount
        }

        /// The next head, where its numbers are as short as those of most records are: read
        /// by two loads.
        @inline(__always)
        private func shortHead() -> Head? {
            guard bytes.count - offset >= 16 else { return nil }
            let start = bytes.baseAddress! + offset
            let word = start.load(UInt64.self, at: 0)
            // Of the sequence number's up to five bytes the last has no high bit.
            let ends = ~word & 0x8080_8080_8000_0000
            guard word & 0x80_8000 == 0, ends != 0 else { return nil }
            var head = Head(
                flags: Flags(rawValue: UInt8(truncatingIfNeeded: word)),
                shared: Int(word >> 8 & 0x7f), suffixCount: Int(word >> 16 & 0x7f),
                storedCount: 0, rawCount: 0, sequenceOffset: offset + 3, suffixOffset: 0)
            var length = ends.trailingZeroBitCount / 8 + 1
            if head.flags.contains(.put) {
                guard let stored = Self.shortNumber(start, &length) else { return nil }
                head.storedCount = stored
                head.rawCount = stored
                if head.flags.contains(.compressed) {
                    guard let raw = Self.shortNumber(start, &length) else { return nil }
                    head.rawCount = raw
                }
            }
            head.suffixOffset = offset + length
            return head
        }

        /// The number of one or two bytes at `length`, which moves past it.
        @inline(__always)
        private static func shortNumber(_ start: UnsafeRawPointer, _ length: inout Int) -> Int? {
            let pair = Int(start.load(UInt16.self, at: length))
            if pair & 0x80 == 0 {
                length += 1
                return pair & 0x7f
            }
            guard pair & 0x8000 == 0 else { return nil }
            length += 2
            return pair & 0x7f | (pair >> 8) << 7
        }

        /// The next head, whatever its numbers are.
        @inline(never)
        private func anyHead() -> Head? {
            var offset = offset
            guard offset < bytes.count else { return nil }
            let flags = Flags(rawValue: bytes[offset])
            offset += 1
            guard let shared = Varint.read(bytes, &offset),
                let suffixCount = Varint.read(bytes, &offset),
                shared <= Limits.recordKeySizeBytes, suffixCount <= Limits.recordKeySizeBytes
            else { return nil }
            let sequenceOffset = offset
            guard Varint.read(bytes, &offset) != nil else { return nil }
            var storedCount: UInt64 = 0
            var rawCount: UInt64 = 0
            if flags.contains(.put) {
                guard let stored = Varint.read(bytes, &offset) else { return nil }
                storedCount = stored
                rawCount = stored
                if flags.contains(.compressed) {
                    guard let raw = Varint.read(bytes, &offset) else { return nil }
                    rawCount = raw
                }
                let limit = UInt64(Limits.valueSizeBytes + Limits.valueOverheadBytes)
                guard storedCount <= limit, rawCount <= limit else { return nil }
            }
            return Head(
                flags: flags, shared: Int(shared), suffixCount: Int(suffixCount),
                storedCount: Int(storedCount), rawCount: Int(rawCount),
                sequenceOffset: sequenceOffset, suffixOffset: offset)
        }
    }

    package enum Search {
        case found(Record)
        case absent
        case damaged
    }

    /// Finds `key` in a group whose checksum holds, without building the keys before it: while
    /// the keys are smaller than `key`, only a record that shares exactly the matched prefix can
    /// change how much matches.
    package static func find(_ key: UnsafeRawBufferPointer, in group: UnsafeRawBufferPointer)
        -> Search
    {
        guard var cursor = Cursor(group) else { return .damaged }
        var matched = 0
        var previousCount = 0
        while !cursor.isAtEnd {
            guard let head = cursor.nextHead(), head.shared <= previousCount else {
                return .damaged
            }
            previousCount = head.shared + head.suffixCount
            if head.shared > matched { continue }
            if head.shared < matched { return .absent }
            let suffix = cursor.suffix(head)
            let rest = UnsafeRawBufferPointer(
                start: key.baseAddress! + matched, count: key.count - matched)
            let common = commonPrefixCount(suffix, rest)
            if common == rest.count {
                guard common == suffix.count else { return .absent }
                return cursor.record(head).map(Search.found) ?? .damaged
            }
            // The key is smaller at the first difference.
            if common < suffix.count && rest[common] < suffix[common] { return .absent }
            matched += common
        }
        return .absent
    }
}
