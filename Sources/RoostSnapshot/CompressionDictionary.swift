import CLZ4
import RoostFormat

/// Bytes that values have in common, which LZ4 may refer back to as if they stood
/// before each value. It makes single small records compress nearly as well as whole blocks.
package struct CompressionDictionary: Sendable, Equatable {
    package static let targetSizeBytes = 8 << 10
    /// Fewer samples than this teach nothing that would hold for later values.
    package static let minimumSampleCount = 32

    package var bytes: [UInt8]
    /// How many records it was trained for.
    package var recordCount: UInt32

    package init(bytes: [UInt8] = [], recordCount: UInt32 = 0) {
        self.bytes = bytes
        self.recordCount = recordCount
    }

    /// Whether a store of `count` records has outgrown this dictionary.
    package func isOutgrown(byRecordCount count: Int) -> Bool {
        count >= Self.minimumSampleCount && count / 8 >= Int(recordCount)
    }

    /// Chooses the stretches of `samples` whose six-byte pieces occur most often.
    ///
    /// A simplified form of COVER (Liao, Petri, Moffat, Wirth: "Effective construction of
    /// relative Lempel-Ziv dictionaries", 2016), as zstd's trainer uses: the samples are divided
    /// into as many parts as the dictionary has segments, the best segment of each part is
    /// taken, and what it covers no longer counts. Pieces are counted by hash, so counts may be
    /// too high, never too low.
    ///
    /// Every fourth sample is kept back, to see whether what the others taught is worth its while.
    package static func train(samples: [[UInt8]], recordCount: Int) -> CompressionDictionary {
        guard samples.count >= minimumSampleCount else { return .init() }
        let unseen = samples.indices.filter { $0 % 4 == 3 }.map { samples[$0] }
        let samples = samples.indices.filter { $0 % 4 != 3 }.map { samples[$0] }
        var counts = PieceCounts()
        for sample in samples { counts.count(sample) }
        var chosen: [[UInt8]] = []
        var size = 0
        let partCount = min(samples.count, targetSizeBytes / segmentSizeBytes)
        for part in 0..<partCount where size < targetSizeBytes {
            let range =
                (part * samples.count / partCount)..<((part + 1) * samples.count / partCount)
            guard let segment = counts.best(in: samples[range]) else { continue }
            counts.forget(segment)
            chosen.append(segment)
            size += segment.count
        }
        // The most valuable last: the end of a dictionary is the nearest to the value.
        let trained = CompressionDictionary(
            bytes: chosen.reversed().flatMap { $0 }, recordCount: UInt32(clamping: recordCount))
        return trained.isWorthKeeping(for: unseen)
            ? trained : .init(bytes: [], recordCount: UInt32(clamping: recordCount))
    }

    /// Whether the samples take at least a twentieth less with the dictionary than each on its
    /// own: compressing against one takes twice as long.
    private func isWorthKeeping(for samples: [[UInt8]]) -> Bool {
        guard !bytes.isEmpty else { return false }
        func total(_ dictionary: CompressionDictionary) -> Int {
            var compressor = ValueCompressor(dictionary: dictionary)
            return samples.reduce(0) { sum, sample in
                sum + sample.withUnsafeBytes { compressor.compress($0)?.bytes.count ?? $0.count }
            }
        }
        return total(self) * 20 <= total(.init()) * 19
    }

    static let segmentSizeBytes = 48
}

/// How often each six-byte piece occurs, by its hash.
private struct PieceCounts {
    private static let pieceSizeBytes = 6
    private static let bits: UInt64 = 16
    private var counts = [UInt32](repeating: 0, count: 1 << Int(bits))

    private func piece(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<Self.pieceSizeBytes {
            word |= UInt64(bytes[offset + index]) << UInt64(8 * index)
        }
        return word
    }

    private func slot(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
        Int((piece(bytes, offset) &* 0x9e37_79b9_7f4a_7c15) >> (64 - Self.bits))
    }

    mutating func count(_ sample: [UInt8]) {
        sample.withUnsafeBytes { bytes in
            guard bytes.count >= Self.pieceSizeBytes else { return }
            for offset in 0...(bytes.count - Self.pieceSizeBytes) {
                counts[slot(bytes, offset)] += 1
            }
        }
    }

    mutating func forget(_ segment: [UInt8]) {
        segment.withUnsafeBytes { bytes in
            guard bytes.count >= Self.pieceSizeBytes else { return }
            for offset in 0...(bytes.count - Self.pieceSizeBytes) {
                counts[slot(bytes, offset)] = 0
            }
        }
    }

    /// The segment that covers most, or `nil` where nothing occurs often enough to be kept.
    func best(in samples: ArraySlice<[UInt8]>) -> [UInt8]? {
        var best: (score: Int, bytes: [UInt8])?
        for sample in samples {
            sample.withUnsafeBytes { bytes in
                let length = min(CompressionDictionary.segmentSizeBytes, bytes.count)
                guard length >= Self.pieceSizeBytes else { return }
                let pieceCount = length - Self.pieceSizeBytes + 1
                var score = 0
                for start in 0...(bytes.count - length) {
                    if start == 0 {
                        score = (0..<pieceCount).reduce(0) { $0 + worth(bytes, $1) }
                    } else {
                        score += worth(bytes, start + pieceCount - 1) - worth(bytes, start - 1)
                    }
                    if score > best?.score ?? 0 {
                        best = (score, Array(bytes[start..<(start + length)]))
                    }
                }
            }
        }
        return best?.bytes
    }

    /// What a piece saves: nothing where it occurs too seldom for another value to meet it, and nothing
    /// where it is one byte again and again: LZ4 refers to the first of them in the value itself.
    private func worth(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
        let count = Int(counts[slot(bytes, offset)])
        guard count >= 4 else { return 0 }
        let piece = piece(bytes, offset)
        return piece == (piece & 0xff) * 0x0101_0101_0101 ? 0 : count
    }
}
