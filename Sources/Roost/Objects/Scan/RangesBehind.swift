import RoostFormat
import RoostIO

// What of ranges of keys is still to be read.

extension IndexRanges {
    /// Of ranges that are in the order of the objects' keys: what is after an object.
    func behind(objectKey: [UInt8], _ order: ScanOrder) -> IndexRanges {
        // Of a unique index it is one entry, whose key does not name the object.
        guard !active.index.isUnique, let range = ranges.first else { return self }
        return behind(range.lower + objectKey, order)
    }

    /// What of the ranges is after an entry.
    func behind(_ key: [UInt8], _ order: ScanOrder) -> IndexRanges {
        var rest = self
        rest.ranges = Roost.behind(key, order, ranges)
        return rest
    }
}

extension [IndexRegion.Interval] {
    /// Whether a key is in one of the ranges, which are in order and apart from each other.
    func contains(key: [UInt8]) -> Bool {
        // The first that does not end at the key or before it.
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if let upper = self[middle].upper, !bytes(key, precede: upper) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < count && !bytes(key, precede: self[low].lower)
    }
}

/// What of ranges of keys is after a key in an order.
func behind(
    _ key: [UInt8], _ order: ScanOrder, _ ranges: [IndexRegion.Interval]
) -> [IndexRegion.Interval] {
    ranges.compactMap { range in
        var range = range
        switch order {
        case .ascending:
            if range.lower.lexicographicallyPrecedes(key) || range.lower == key {
                range.lower = key + [0]
            }
        case .descending:
            if range.upper.map({ key.lexicographicallyPrecedes($0) }) ?? true {
                range.upper = key
            }
        }
        return range.isEmpty ? nil : range
    }
}

extension Index {
    /// The part of an entry's form that the first fields make.
    func form(_ form: [UInt8], fieldCount: Int) -> [UInt8] {
        if fieldCount == fields.count { return form }
        return form.withUnsafeBytes { bytes in
            var place = 0
            for field in fields.prefix(fieldCount) {
                place =
                    field.shape.layout.end(in: bytes, from: place, isInverted: field.isDescending)?
                    .end ?? place
            }
            return Array(bytes[..<place])
        }
    }
}
