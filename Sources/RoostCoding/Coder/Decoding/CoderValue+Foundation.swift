import Foundation

/// The types of Foundation that have a form of their own.
extension CoderValue {
    func date() throws -> Date? {
        var reader = reader()
        reader.cursor += 1
        switch tag {
        case CoderTag.date: return try Date(from: &reader)
        case CoderTag.wholeDate:
            return Date(timeIntervalSinceReferenceDate: Double(try Int64(from: &reader)))
        default: return nil
        }
    }

    func uuid() throws -> UUID? {
        guard tag == CoderTag.uuid else { return nil }
        var reader = reader()
        reader.cursor += 1
        return try UUID(from: &reader)
    }

    func url() throws -> URL? {
        guard tag == CoderTag.url else { return nil }
        var reader = reader()
        reader.cursor += 1
        return try URL(from: &reader)
    }

    func decimal() throws -> Decimal? {
        guard tag == CoderTag.decimal else { return nil }
        var reader = reader()
        reader.cursor += 1
        guard let value = try CoderDecimal(from: &reader).value else { throw reader.doesNotFit() }
        return value
    }

    /// An array whose elements are all of one kind; `nil` when any of them is not.
    func elements<Element>(
        _ element: (CoderValue) throws -> Element?
    ) throws -> [Element]? {
        guard let content = try bytes(CoderTag.array) else { return nil }
        guard let start = content.baseAddress else { return [] }
        let limit = start + content.count
        var elements: [Element] = []
        elements.reserveCapacity(try Self.count(from: start, to: limit))
        var position = start
        while position < limit {
            let value = CoderValue(start: position, limit: limit)
            position = try value.end()
            guard let read = try element(value) else { return nil }
            elements.append(read)
        }
        return elements
    }

    /// The number of values one after another.
    private static func count(from start: UnsafeRawPointer, to limit: UnsafeRawPointer) throws
        -> Int
    {
        var (count, position) = (0, start)
        while position < limit {
            position = try CoderValue(start: position, limit: limit).end()
            count += 1
        }
        return count
    }
}
