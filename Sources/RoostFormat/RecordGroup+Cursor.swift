/// Reading the records of a group.
extension RecordGroup {
    /// Steps through a group whose checksum holds; still believes no length.
    ///
    /// - `0 <= offset <= count`, which is far below what would overflow in what is added here.
    package struct Cursor {
        private let base: UnsafeRawPointer
        private let count: Int
        private var offset: Int
        private var remaining: Int
        private let baseSequence: UInt64
        /// How many bytes each sequence number takes; 0: varints.
        private let width: Int
        /// How long the key before is, which the next is front-coded against.
        private var keyCount: Int
        /// Of the last put. Before the first more than there is.
        private var lastStoredCount = Int(UInt32.max)
        private var lastRawCount = Int(UInt32.max)

        /// `firstKeyCount` is the length of the snapshot's `FirstKey`; `nil` where the group's header
        /// makes no sense.
        @inline(__always)
        package init?(_ group: UnsafeRawBufferPointer, firstKeyCount: Int) {
            guard group.count > headerSizeBytes, let base = group.baseAddress else { return nil }
            self.base = base
            count = group.count
            remaining = Int(group[8] & countMask)
            width = Int(group[8] >> widthShift)
            keyCount = firstKeyCount
            offset = headerSizeBytes
            guard remaining > 0, let number = Varint.read(group, &offset) else { return nil }
            baseSequence = number
        }

        package var isAtEnd: Bool { remaining == 0 }
        var remainingCount: Int { remaining }
        private var bytes: UnsafeRawBufferPointer { .init(start: base, count: count) }

        /// The next record, which shares no more than the key before has; `nil` where the bytes make no
        /// sense. Not to be called at the end.
        @inline(__always)
        package mutating func next() -> Record? {
            guard let head = nextHead() else { return nil }
            return record(head)
        }

        /// What stands before a record's bytes; its key and its stored bytes lie within the group.
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
            guard let head = shortHead() ?? anyHead() else { return nil }
            let keyCount = head.shared &+ head.suffixCount
            guard head.shared >= 0, head.shared <= self.keyCount, keyCount > 0,
                keyCount <= Limits.recordKeySizeBytes,
                count &- head.suffixOffset >= head.suffixCount &+ head.storedCount
            else { return nil }
            offset = head.suffixOffset &+ head.suffixCount &+ head.storedCount
            self.keyCount = keyCount
            if head.flags.contains(.put) {
                lastStoredCount = head.storedCount
                lastRawCount = head.rawCount
            }
            remaining &-= 1
            return head
        }

        @inline(__always)
        func suffix(_ head: Head) -> UnsafeRawBufferPointer {
            .init(start: base + head.suffixOffset, count: head.suffixCount)
        }

        /// The record after a head, with what only it is asked for.
        @inline(__always)
        func record(_ head: Head) -> Record? {
            var offset = head.sequenceOffset
            // What is written again of it counts on numbers that keep the limit.
            guard isSound(head), let sequence = readSequence(&offset), sequence < Limits.number
            else { return nil }
            let suffix = suffix(head)
            return Record(
                flags: Flags(rawValue: head.flags.rawValue & Flags.meaning), shared: head.shared,
                suffix: suffix, sequence: sequence,
                stored: .init(
                    start: suffix.baseAddress! + head.suffixCount, count: head.storedCount),
                rawCount: head.rawCount)
        }

        @inline(__always)
        private func isSound(_ head: Head) -> Bool {
            guard head.flags.contains(.put) else {
                return head.flags.contains(.tombstone) && !head.flags.contains(.expires)
            }
            let least = head.flags.contains(.expires) ? ValueHeader.deadlineSizeBytes : 0
            return head.storedCount >= least && head.rawCount >= least
                && head.rawCount <= Limits.valueSizeBytes + Limits.valueOverheadBytes
        }

        /// The sequence number at `offset`, which moves past it.
        @inline(__always)
        private func readSequence(_ offset: inout Int) -> UInt64? {
            if width == 0 {
                guard let delta = Varint.read(bytes, &offset) else { return nil }
                return baseSequence &+ UInt64(bitPattern: Varint.unzigzag(delta))
            }
            guard count - offset >= width else { return nil }
            var delta: UInt64 = 0
            if count - offset >= 8 {
                let word = (base + offset).load(UInt64.self, at: 0)
                delta = word & (1 << UInt64(8 * width) - 1)
            } else {
                for index in 0..<width {
                    delta |= UInt64(bytes[offset + index]) << UInt64(8 * index)
                }
            }
            offset += width
            return baseSequence &+ delta
        }

        /// The next head where it is a short one, as most are, and not among the group's last bytes:
        /// read by one load, and one more for each length.
        @inline(__always)
        private func shortHead() -> Head? {
            guard count &- offset >= 16 else { return nil }
            let start = base + offset
            let pair = Int(start.load(UInt16.self, at: 0))
            let flags = Flags(rawValue: UInt8(truncatingIfNeeded: pair))
            guard flags.contains(.isShort), width > 0 else { return nil }
            var length = 2 &+ width
            var storedCount = 0
            var rawCount = 0
            if flags.contains(.put) {
                storedCount = lastStoredCount
                if !flags.contains(.hasLastStoredCount) {
                    guard let number = Self.shortNumber(start, &length) else { return nil }
                    storedCount = number
                }
                rawCount = storedCount
                if flags.isCompressed {
                    rawCount = lastRawCount
                    if !flags.contains(.hasLastRawCount) {
                        guard let number = Self.shortNumber(start, &length) else { return nil }
                        rawCount = number
                    }
                }
            }
            return Head(
                flags: flags, shared: keyCount &- pair >> 12, suffixCount: pair >> 8 & 15,
                storedCount: storedCount, rawCount: rawCount, sequenceOffset: offset &+ 2,
                suffixOffset: offset &+ length)
        }

        /// The number of one or two bytes at `length`, which moves past it.
        @inline(__always)
        private static func shortNumber(_ start: UnsafeRawPointer, _ length: inout Int) -> Int? {
            let pair = Int(start.load(UInt16.self, at: length))
            if pair & 0x80 == 0 {
                length &+= 1
                return pair & 0x7f
            }
            guard pair & 0x8000 == 0 else { return nil }
            length &+= 2
            return pair & 0x7f | (pair >> 8) << 7
        }

        /// The next head, whatever it is.
        @inline(never)
        private func anyHead() -> Head? {
            var offset = offset
            guard offset < count else { return nil }
            let flags = Flags(rawValue: bytes[offset])
            offset += 1
            guard let (shared, suffixCount) = keyShape(flags, &offset) else { return nil }
            let sequenceOffset = offset
            guard readSequence(&offset) != nil else { return nil }
            var storedCount = 0
            var rawCount = 0
            if flags.contains(.put) {
                guard let stored = valueCount(flags, .hasLastStoredCount, lastStoredCount, &offset)
                else { return nil }
                storedCount = stored
                rawCount = stored
                if flags.isCompressed {
                    guard let raw = valueCount(flags, .hasLastRawCount, lastRawCount, &offset)
                    else { return nil }
                    rawCount = raw
                }
            }
            return Head(
                flags: flags, shared: shared, suffixCount: suffixCount, storedCount: storedCount,
                rawCount: rawCount, sequenceOffset: sequenceOffset, suffixOffset: offset)
        }

        private func keyShape(_ flags: Flags, _ offset: inout Int) -> (Int, Int)? {
            if flags.contains(.isShort) {
                guard offset < count else { return nil }
                let shape = Int(bytes[offset])
                offset += 1
                return (keyCount - shape >> 4, shape & 15)
            }
            guard let shared = Varint.read(bytes, &offset),
                let suffixCount = Varint.read(bytes, &offset),
                shared <= Limits.recordKeySizeBytes, suffixCount <= Limits.recordKeySizeBytes
            else { return nil }
            return (Int(shared), Int(suffixCount))
        }

        private func valueCount(
            _ flags: Flags, _ isLast: Flags, _ last: Int, _ offset: inout Int
        ) -> Int? {
            if flags.contains(isLast) { return flags.contains(.isShort) ? last : nil }
            guard let count = Varint.read(bytes, &offset),
                count <= UInt64(Limits.valueSizeBytes + Limits.valueOverheadBytes)
            else { return nil }
            return Int(count)
        }
    }

    package enum Search {
        case found(Record)
        case absent
        case damaged
    }

    /// Finds `key` in a group whose checksum holds, without building the keys before it: while
    /// the keys are smaller than `key`, only a record that shares exactly the matched prefix can
    /// change how much matches. A key that is smaller than the snapshot's first matches none either.
    package static func find(
        _ key: UnsafeRawBufferPointer, in group: UnsafeRawBufferPointer, firstKey: FirstKey
    ) -> Search {
        guard var cursor = Cursor(group, firstKeyCount: firstKey.count) else { return .damaged }
        var matched = firstKey.sharedCount(with: key)
        while !cursor.isAtEnd {
            guard let head = cursor.nextHead() else { return .damaged }
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
