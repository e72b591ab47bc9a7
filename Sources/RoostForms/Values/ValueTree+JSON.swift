import Foundation

// Trees as JSON, in two forms: for reading, where a leaf is what a person would write, and for editing,
// where what JSON has no form for is an object of one member that names the type.

extension ValueTree {
    /// For reading.
    package var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .double(let value): value.isFinite ? .number(value.description) : .string("\(value)")
        case .string(let value): .string(value)
        case .date(let value): .string(Self.text(value))
        case .uuid(let value): .string(value.uuidString)
        case .decimal(let value): value.isFinite ? .number("\(value)") : .string("\(value)")
        case .url(let value): .string(value.absoluteString)
        case .data(let value): .members(["$data": .string(value.base64EncodedString())])
        case .array(let elements): .array(elements.map(\.json))
        case .object(let members):
            .object(members.map { JSONValue.Member(name: $0.name, value: $0.value.json) })
        }
    }

    /// From the first days of the year 1 to the end of the year 9999, in seconds since 2001.
    private static let formatted = -63_113_904_000.0..<252_423_993_600.0

    /// Its seconds since 2001 where they have no date of four digits for the year: the format shows others as a date that
    /// they are not.
    private static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard formatted.contains(seconds) else { return "\(seconds)" }
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// For editing: `init(editable:)` makes the same tree of it. A date is its seconds since 2001, so
    /// that no bit of it is lost.
    package var editable: JSONValue {
        switch self {
        case .date(let value): wrapped("\(value.timeIntervalSinceReferenceDate)")
        case .uuid(let value): wrapped(value.uuidString)
        case .decimal(let value): wrapped("\(value)")
        case .url(let value): wrapped(value.absoluteString)
        case .data(let value): wrapped(value.base64EncodedString())
        case .double(let value) where !value.isFinite: wrapped("\(value)")
        case .array(let elements): .array(elements.map(\.editable))
        case .object(let members):
            .object(members.map { JSONValue.Member(name: $0.name, value: $0.value.editable) })
        default: json
        }
    }

    private func wrapped(_ text: String) -> JSONValue {
        .object([JSONValue.Member(name: "$" + typeName.lowercased(), value: .string(text))])
    }

    /// - Throws: What of the JSON is no tree.
    package init(editable json: JSONValue) throws(StoredForm.Failure) {
        try self.init(json, unwraps: true)
    }

    /// JSON as what it is: no member's name means anything.
    package init(json: JSONValue) throws(StoredForm.Failure) { try self.init(json, unwraps: false) }

    private init(_ json: JSONValue, unwraps: Bool) throws(StoredForm.Failure) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .number(let text):
            let isWhole = !text.contains { $0 == "." || $0 == "e" || $0 == "E" } && text != "-0"
            if isWhole, let value = Int128(text) {
                self = .integer(value)
            } else if let value = Double(text), value.isFinite {
                self = .double(value)
            } else {
                throw StoredForm.Failure(reason: "\(text) is beyond every number that is stored")
            }
        case .array(let elements):
            var trees: [ValueTree] = []
            for element in elements { trees.append(try ValueTree(element, unwraps: unwraps)) }
            self = .array(trees)
        case .object(let members):
            if unwraps, members.count == 1, members[0].name.hasPrefix("$"),
                case .string(let text) = members[0].value
            {
                self = try Self.unwrapped(members[0].name, text)
                return
            }
            var trees: [Member] = []
            for member in members {
                let value = try ValueTree(member.value, unwraps: unwraps)
                trees.append(Member(name: member.name, value: value))
            }
            self = .object(trees)
        }
    }

    private static func unwrapped(
        _ name: String, _ text: String
    ) throws(StoredForm.Failure) -> ValueTree {
        let tree: ValueTree? =
            switch name {
            case "$date":
                Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
            case "$uuid": UUID(uuidString: text).map { .uuid($0) }
            case "$decimal": wholeDecimal(text)
            case "$url": URL(string: text).map { .url($0) }
            case "$data": Data(base64Encoded: text).map { .data($0) }
            case "$double": Double(text).map { .double($0) }
            default: .object([Member(name: name, value: .string(text))])
            }
        guard let tree else {
            throw StoredForm.Failure(reason: "\"\(name)\" does not hold what its name says")
        }
        return tree
    }

    /// `nil` where the text is no decimal to its last digit: Foundation reads as far as it is a number.
    private static func wholeDecimal(_ text: String) -> ValueTree? {
        if text == "NaN" { return .decimal(.nan) }
        guard case .number(let number)? = try? JSONParser.parse(text),
            let form = DecimalForm(number), let value = Decimal(string: number),
            form == DecimalForm("\(value)")
        else { return nil }
        return .decimal(value)
    }
}
