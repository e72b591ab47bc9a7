import CLZ4
import RoostFormat

/// Compresses values one by one against a dictionary. For one user at a time.
///
/// LZ4 prepares its tables for a dictionary once; each value then refers to them in place
/// (`LZ4_attach_dictionary`). Where the library cannot, it starts from a copy of them, which
/// costs 0.25 us; preparing them anew would cost 10.
package struct ValueCompressor: ~Copyable {
    package let dictionary: CompressionDictionary
    private let prepared: UnsafeMutablePointer<LZ4_stream_t>
    private let working: UnsafeMutablePointer<LZ4_stream_t>
    /// Alive as long as `prepared` points into it.
    private let dictionaryBytes: UnsafeMutableRawBufferPointer
    private let attaches: Bool
    private var output = OutputBuffer(capacity: 4096)
    /// A short value with what `BlockEnd` puts after it.
    private var padded = OutputBuffer(capacity: 2 * BlockEnd.usedUpToSizeBytes)
    /// Attempts in a row that saved nothing; from some on only a few values are tried.
    private var failures = 0

    package static let minimumSizeBytes = 20
    private static let patience = 64
    /// Values longer than this find enough to refer to in themselves.
    private static let aloneSizeBytes = 64 << 10

    package init(dictionary: CompressionDictionary) {
        self.dictionary = dictionary
        dictionaryBytes = .allocate(byteCount: max(dictionary.bytes.count, 1), alignment: 16)
        dictionaryBytes.copyBytes(from: dictionary.bytes)
        prepared = .allocate(capacity: 1)
        working = .allocate(capacity: 1)
        LZ4_initStream(prepared, MemoryLayout<LZ4_stream_t>.size)
        LZ4_initStream(working, MemoryLayout<LZ4_stream_t>.size)
        LZ4_loadDict(prepared, dictionaryBytes.baseAddress, Int32(dictionary.bytes.count))
        attaches = roost_lz4_attaches() != 0
    }

    deinit {
        prepared.deallocate()
        working.deallocate()
        dictionaryBytes.deallocate()
    }

    /// What a value becomes.
    package struct Compressed {
        /// Valid until the next value.
        package let bytes: UnsafeRawBufferPointer
        /// How many bytes of the block's end are left out: of `BlockEnd.bytes`, as of all such blocks.
        package let leftOutCount: Int
    }

    /// The compressed form; `nil` where it would not be smaller by a sixteenth. The first
    /// `headerCount` bytes stay as they are.
    package mutating func compress(
        _ stored: UnsafeRawBufferPointer, headerCount: Int = 0
    ) -> Compressed? {
        let value = UnsafeRawBufferPointer(rebasing: stored[headerCount...])
        guard value.count >= Self.minimumSizeBytes else { return nil }
        if failures >= Self.patience {
            failures += 1
            if failures % 16 != 0 { return nil }
        }
        output.count = 0
        output.append(.init(rebasing: stored[..<headerCount]))
        let (count, leftOutCount) = compressBlock(of: value)
        guard count > 0, count < value.count - value.count / 16 else {
            failures += 1
            return nil
        }
        failures = 0
        return Compressed(
            bytes: .init(start: output.base, count: headerCount + count),
            leftOutCount: leftOutCount)
    }

    /// Writes the block of `value` after what is in `output`: its length without what may be left
    /// out, and how much that is.
    private mutating func compressBlock(of value: UnsafeRawBufferPointer) -> (Int, Int) {
        if value.count <= BlockEnd.usedUpToSizeBytes {
            padded.count = 0
            padded.append(value)
            BlockEnd.withBytes { padded.append(.init(rebasing: $0[1...])) }
            let count = writeBlock(of: padded.bytes)
            let leftOutCount = BlockEnd.count(
                in: .init(start: output.base + output.count, count: count))
            if leftOutCount > 0 { return (count - leftOutCount, leftOutCount) }
        }
        return (writeBlock(of: value), 0)
    }

    private mutating func writeBlock(of value: UnsafeRawBufferPointer) -> Int {
        // Room for whatever comes: a call that ran out of it would leave the stream unusable.
        let capacity = LZ4_compressBound(Int32(value.count))
        let target = output.reserve(Int(capacity)).assumingMemoryBound(to: CChar.self)
        let source = value.baseAddress!.assumingMemoryBound(to: CChar.self)
        if value.count > Self.aloneSizeBytes {
            return Int(LZ4_compress_fast(source, target, Int32(value.count), capacity, 1))
        }
        prepareWorking()
        return Int(
            LZ4_compress_fast_continue(
                working, source, target, Int32(value.count), capacity, 1))
    }

    private func prepareWorking() {
        if attaches || dictionary.bytes.isEmpty {
            LZ4_resetStream_fast(working)
            if !dictionary.bytes.isEmpty { roost_lz4_attach(working, prepared) }
        } else {
            working.pointee = prepared.pointee
        }
    }
}
