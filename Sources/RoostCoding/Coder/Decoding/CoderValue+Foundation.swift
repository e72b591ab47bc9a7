import Foundation

/// The types of Foundation that have a form of their own.
extension CoderValue {
    func date() throws -> Date? {
        guard tag == CoderTag.date else { return nil }
        return try double().map(Date.init(timeIntervalSinceReferenceDate:))
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
        guard var position = content.baseAddress else { return [] }
        let limit = position + content.count
        var elements: [Element] = []
        while position < limit {
            let value = CoderValue(start: position, limit: limit)
            position = try value.end()
            guard let read = try element(value) else { return nil }
            elements.append(read)
        }
        return elements
    }
}
