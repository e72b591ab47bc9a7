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

    /// The compressed form, valid until the next call; `nil` where it would not be smaller by a
    /// sixteenth. The first `headerCount` bytes stay as they are.
    package mutating func compress(
        _ stored: UnsafeRawBufferPointer, headerCount: Int = 0
    ) -> UnsafeRawBufferPointer? {
        let value = UnsafeRawBufferPointer(rebasing: stored[headerCount...])
        guard value.count >= Self.minimumSizeBytes else { return nil }
        if failures >= Self.patience {
            failures += 1
            if failures % 16 != 0 { return nil }
        }
        // Room for whatever comes: a call that ran out of it would leave the stream unusable.
        let capacity = LZ4_compressBound(Int32(value.count))
        output.count = 0
        // Room for both at once: growing between them would move the one away from the other.
        _ = output.reserve(headerCount + Int(capacity))
        output.append(.init(rebasing: stored[..<headerCount]))
        let target = output.reserve(Int(capacity)).assumingMemoryBound(to: CChar.self)
        let source = value.baseAddress!.assumingMemoryBound(to: CChar.self)
        let count: Int32
        if value.count > Self.aloneSizeBytes {
            count = LZ4_compress_fast(source, target, Int32(value.count), capacity, 1)
        } else {
            prepareWorking()
            count = LZ4_compress_fast_continue(
                working, source, target, Int32(value.count), capacity, 1)
        }
        guard count > 0, Int(count) < value.count - value.count / 16 else {
            failures += 1
            return nil
        }
        failures = 0
        return .init(start: output.base, count: headerCount + Int(count))
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

/// Decompresses `stored` into `target`, whose length is the value's; `false` where the bytes
/// make no sense or give another length. Reads and writes within its bounds whatever they are.
package func decompress(
    _ stored: UnsafeRawBufferPointer, dictionary: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
) -> Bool {
    guard let source = stored.baseAddress, let output = target.baseAddress else { return false }
    let count = LZ4_decompress_safe_usingDict(
        source.assumingMemoryBound(to: CChar.self), output.assumingMemoryBound(to: CChar.self),
        Int32(stored.count), Int32(target.count),
        dictionary.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(dictionary.count))
    return Int(count) == target.count
}
