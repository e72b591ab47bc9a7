import RoostFormat
import RoostIO

/// Sorts operations by a word that stands for their keys' order, by a radix sort from the lowest
/// byte on: a comparison sort took four times as long.
///
/// - Operations whose words are equal are compared by their whole keys.
struct KeySorter {
    private struct Entry {
        var word: UInt64
        var location: UInt
    }

    private var entries: [Entry] = []

    init(capacity: Int) { entries.reserveCapacity(capacity) }

    mutating func append(_ word: UInt64, _ operation: Operation) {
        entries.append(Entry(word: word, location: operation.location))
    }

    mutating func replaceWords(_ word: (Operation) -> UInt64) {
        for index in entries.indices {
            entries[index].word = word(Operation(location: entries[index].location))
        }
    }

    consuming func sorted() -> [Operation] {
        sortByWord()
        sortEqualWords()
        return entries.map { Operation(location: $0.location) }
    }

    /// The words and the locations, in order.
    consuming func sortedWords() -> (words: [UInt64], locations: [UInt]) {
        sortByWord()
        sortEqualWords()
        return (entries.map(\.word), entries.map(\.location))
    }

    private mutating func sortByWord() {
        guard entries.count > 1 else { return }
        var scratch = entries
        var differing: UInt64 = 0
        for entry in entries { differing |= entry.word ^ entries[0].word }
        entries.withUnsafeMutableBufferPointer { first in
            scratch.withUnsafeMutableBufferPointer { second in
                var (source, target) = (first, second)
                for shift in stride(from: UInt64(0), to: 64, by: 8)
                where differing >> shift & 0xff != 0 {
                    giveWay()
                    Self.distribute(source, to: target, byByteAt: shift)
                    (source, target) = (target, source)
                }
                if source.baseAddress != first.baseAddress { _ = first.update(from: source) }
            }
        }
    }

    /// One pass, which keeps the order of entries whose bytes are equal.
    private static func distribute(
        _ source: UnsafeMutableBufferPointer<Entry>, to target: UnsafeMutableBufferPointer<Entry>,
        byByteAt shift: UInt64
    ) {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
            places.initialize(repeating: 0)
            for entry in source { places[Int(entry.word >> shift & 0xff)] += 1 }
            var next = 0
            for byte in 0..<256 {
                let count = places[byte]
                places[byte] = next
                next += count
            }
            for entry in source {
                let byte = Int(entry.word >> shift & 0xff)
                target[places[byte]] = entry
                places[byte] += 1
            }
        }
    }

    private mutating func sortEqualWords() {
        var begin = 0
        while begin < entries.count {
            var end = begin + 1
            while end < entries.count, entries[end].word == entries[begin].word { end += 1 }
            if end - begin > 1 {
                entries[begin..<end].sort {
                    compareBytes(
                        Operation(location: $0.location).key, Operation(location: $1.location).key)
                        < 0
                }
            }
            begin = end
        }
    }
}
