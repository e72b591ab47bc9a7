/// Writing the records of a group.
extension RecordGroup {
    /// Takes a group's records, then lays them out. For one user at a time.
    ///
    /// - `payload` has the suffix and the stored bytes of each of `pending`, in order.
    /// - `lastKey` is what the next key is front-coded against.
    package struct Builder: ~Copyable {
        private struct Pending {
            var flags: Flags
            var droppedCount: Int
            var shared: Int
            var suffixCount: Int
            var storedCount: Int
            var rawCount: Int
            var sequence: UInt64
        }

        private var pending: [Pending] = []
        private var payload = OutputBuffer(capacity: 4096)
        private var lastKey = OutputBuffer(capacity: 256)
        private var firstKey: FirstKey?

        package init() { pending.reserveCapacity(maximumRecordCount) }

        /// How the first key of all begins; of nothing before there was one.
        package var snapshotFirstKey: FirstKey { firstKey ?? FirstKey() }
        package var isEmpty: Bool { pending.isEmpty }
        package var isFull: Bool {
            pending.count == maximumRecordCount || payload.count >= targetSizeBytes
        }

        /// Adds a record; of `flags` only what the record is counts.
        package mutating func add(
            key: UnsafeRawBufferPointer, sequence: UInt64, flags: Flags,
            stored: UnsafeRawBufferPointer, rawCount: Int
        ) {
            if pending.isEmpty { beginKeys(key) }
            let shared = commonPrefixCount(lastKey.bytes, key)
            pending.append(
                Pending(
                    flags: Flags(rawValue: flags.rawValue & Flags.meaning),
                    droppedCount: lastKey.count - shared, shared: shared,
                    suffixCount: key.count - shared, storedCount: stored.count,
                    rawCount: rawCount, sequence: sequence))
            payload.append(UnsafeRawBufferPointer(rebasing: key[shared...]))
            payload.append(stored)
            lastKey.count = 0
            lastKey.append(key)
        }

        private mutating func beginKeys(_ key: UnsafeRawBufferPointer) {
            if firstKey == nil { firstKey = FirstKey(key) }
            lastKey.count = 0
            snapshotFirstKey.withBytes { lastKey.append($0) }
        }

        /// Appends the group, without padding, and begins the next. At least one record was added.
        package mutating func finish(seed: ChecksumSeed, into output: inout OutputBuffer) {
            let start = output.count
            output.append(UInt32(0))
            output.append(UInt32(0))
            let least = pending.reduce(UInt64.max) { min($0, $1.sequence) }
            let greatest = pending.reduce(0) { max($0, $1.sequence) }
            // Numbers are below 2^62, so one too far from the least for seven bytes is rare at best.
            let width = min(max(Self.sizeBytes(of: greatest - least), 1), 8) & 7
            output.append(UInt8(pending.count) | UInt8(width) << widthShift)
            output.appendVarint(least)
            var last: Pending?
            var offset = 0
            for record in pending {
                Self.appendHead(record, after: last, width: width, least: least, to: &output)
                let count = record.suffixCount + record.storedCount
                output.append(.init(rebasing: payload.bytes[offset..<(offset + count)]))
                offset += count
                if record.flags.contains(.put) { last = record }
            }
            let count = output.count - start
            let group = output.base + start
            group.store(UInt32(count), at: 4)
            group.store(seed.checksum(group + 4, count: count - 4), at: 0)
            pending.removeAll(keepingCapacity: true)
            payload.count = 0
        }

        private static func appendHead(
            _ record: Pending, after last: Pending?, width: Int, least: UInt64,
            to output: inout OutputBuffer
        ) {
            let isPut = record.flags.contains(.put)
            let isShort =
                max(record.droppedCount, record.suffixCount) < 16
                && max(record.storedCount, record.rawCount) < 1 << 14
            var flags = record.flags
            if isShort {
                flags = flags.union(.isShort)
                if isPut, record.storedCount == last?.storedCount {
                    flags = flags.union(.hasLastStoredCount)
                }
                if flags.isCompressed, record.rawCount == last?.rawCount {
                    flags = flags.union(.hasLastRawCount)
                }
            }
            output.append(flags.rawValue)
            if isShort {
                output.append(UInt8(record.droppedCount << 4 | record.suffixCount))
            } else {
                output.appendVarint(UInt64(record.shared))
                output.appendVarint(UInt64(record.suffixCount))
            }
            if width == 0 {
                output.appendVarint(Varint.zigzag(Int64(record.sequence - least)))
            } else {
                _ = output.reserve(8)
                (output.base + output.count).store(record.sequence - least, at: 0)
                output.count += width
            }
            if isPut, !flags.contains(.hasLastStoredCount) {
                output.appendVarint(UInt64(record.storedCount))
            }
            if flags.isCompressed, !flags.contains(.hasLastRawCount) {
                output.appendVarint(UInt64(record.rawCount))
            }
        }

        private static func sizeBytes(of number: UInt64) -> Int {
            (UInt64.bitWidth - number.leadingZeroBitCount + 7) / 8
        }
    }
}
