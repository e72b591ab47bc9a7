import Foundation

/// The shape of an index as the catalog has it, read back: for tools, which do not know the type.
package struct StoredIndexShape: Sendable {
    package struct Field: Sendable {
        /// The property, with those that it is of before it: "author.name".
        package let path: String
        /// Whether each of its elements has an entry.
        package let isEach: Bool
        package let isDescending: Bool
        let isOptional: Bool
        /// What the form is of: "int64", "string".
        let type: String

        /// Whether it is the place of a case in the order of its type.
        private var isCase: Bool { type.hasPrefix("cases-") }

        /// Whether what is stored says which form it has: what a type has for a URL or a case is known to it alone.
        var isOfStoredValue: Bool { type != "url" && !isCase }

        /// `nil` where this version knows no such form.
        var layout: IndexShape.Layout? {
            let inner: IndexShape.Layout
            switch type {
            case "bool": inner = .fixed(1)
            case "int64", "uint64", "double": inner = .fixed(8)
            case "int128", "uint128", "uuid": inner = .fixed(16)
            // Without the addition of an earlier version, which had NaN behind all numbers.
            case "decimal", "decimal-nan-first": inner = Decimal.indexShape.layout
            case "string", "bytes", "url": inner = .escaped
            case _ where isCase: inner = .escaped
            default: return nil
            }
            return isOptional ? .optional(inner) : inner
        }
    }

    package let fields: [Field]
    package let isUnique: Bool
    /// Whether it has only some of the objects.
    package let isPartial: Bool
    /// Whether objects are brought up to date before the index sees them.
    package let isMigrated: Bool
    /// Whether what the objects have stored says which entries they have: of a property that is computed it
    /// does not, nor of a URL or a case in an order of its type's.
    package var isOfStoredFields: Bool {
        !isMigrated
            && fields.allSatisfy {
                $0.isOfStoredValue && !$0.path.contains(FieldPath.computedName)
            }
    }

    /// `nil` where the text is no shape that this version knows.
    init?(_ text: String) {
        var fields: [Field] = []
        var rest = text.components(separatedBy: ", ")[...]
        while let part = rest.first, let field = Field(part) {
            fields.append(field)
            rest.removeFirst()
        }
        guard !fields.isEmpty, fields.allSatisfy({ $0.layout != nil }) else { return nil }
        self.fields = fields
        isUnique = rest.first == "unique"
        if isUnique { rest.removeFirst() }
        // What a condition says may hold any text, so that what is after it is not told apart.
        isPartial = rest.first?.hasPrefix("where ") ?? false
        let hasVersion = rest.last?.hasPrefix("version ") ?? false
        isMigrated = isPartial || hasVersion
        // What else a later version may say of it is not known.
        if !isPartial, rest.count > (hasVersion ? 1 : 0) { return nil }
    }

    /// Where the form of the fields ends in an entry's key; `nil` where the bytes are no entry.
    func formEnd(in key: UnsafeRawBufferPointer) -> Int? {
        var place = 0
        for field in fields {
            guard
                let end = field.layout?.end(in: key, from: place, isInverted: field.isDescending)
            else { return nil }
            place = end.end
        }
        return place
    }
}

extension StoredIndexShape.Field {
    /// "each tags:string", "due:double? descending".
    init?(_ text: String) {
        var text = Substring(text)
        isEach = text.hasPrefix("each ")
        if isEach { text.removeFirst("each ".count) }
        isDescending = text.hasSuffix(" descending")
        if isDescending { text.removeLast(" descending".count) }
        guard let colon = text.lastIndex(of: ":") else { return nil }
        path = String(text[..<colon])
        var type = text[text.index(after: colon)...]
        isOptional = type.hasSuffix("?")
        if isOptional { type.removeLast() }
        guard !path.isEmpty, !path.contains(" "), !type.contains(" ") else { return nil }
        self.type = String(type)
    }

    /// The forms as one of which an index has a value of the field: two where the field may be a Float, as the text of one
    /// is not that of the Double that it is; none where a value of the field's type is none such.
    package func forms(of value: IndexedValue) -> [[UInt8]] {
        guard let form = form(of: value) else { return [] }
        guard let float = float(of: value), float.isFinite else { return [form] }
        let other = self.form(of: Double(float))
        return other == form ? [form] : [form, other]
    }

    /// The first and the last form that the entries of values that are equal to this one may have; `nil` where a value of
    /// the field's type is none such.
    ///
    /// Of a Float the neighbours are within, as what it was rounded from is compared.
    package func bounds(of value: IndexedValue) -> (first: [UInt8], last: [UInt8])? {
        guard let form = form(of: value) else { return nil }
        // The texts of these are compared, and small letters are behind all that are stored.
        if type == "uuid", case .text(let text) = value, UUID(uuidString: text)?.uuidString != text
        {
            return nil
        }
        guard let float = float(of: value), !float.isNaN else { return (form, form) }
        let neighbours = [float.nextDown, float.nextUp].map { self.form(of: Double($0)) }
        let forms = ([form] + neighbours).sorted { $0.lexicographicallyPrecedes($1) }
        return (forms[0], forms[2])
    }

    private func form(of value: IndexedValue) -> [UInt8]? {
        guard var form = plainForm(of: value) else { return nil }
        if isDescending { form.invert(from: 0) }
        return form.bytes
    }

    private func form(of number: Double) -> [UInt8] {
        var form = IndexForm()
        if isOptional { form.append(IndexShape.present) }
        number.encode(into: &form)
        if isDescending { form.invert(from: 0) }
        return form.bytes
    }

    /// Floats are in indexes as Doubles.
    private func float(of value: IndexedValue) -> Float? {
        guard type == "double", case .number(let text) = value else { return nil }
        return Float(text)
    }

    private func plainForm(of value: IndexedValue) -> IndexForm? {
        guard isOptional else { return innerForm(of: value) }
        var form = IndexForm()
        if case .absent = value {
            form.append(IndexShape.absent)
            return form
        }
        guard let inner = innerForm(of: value) else { return nil }
        form.append(IndexShape.present)
        form.bytes += inner.bytes
        return form
    }

    private func innerForm(of value: IndexedValue) -> IndexForm? {
        switch (type, value) {
        case ("bool", .bool(let value)): IndexForm(value)
        case ("int64", .number(let text)): Int64(text).map { IndexForm($0) }
        case ("uint64", .number(let text)): UInt64(text).map { IndexForm($0) }
        case ("int128", .number(let text)): Int128(text).map { IndexForm($0) }
        case ("uint128", .number(let text)): UInt128(text).map { IndexForm($0) }
        case ("double", .number(let text)): Double(text).map { IndexForm($0) }
        case ("decimal", .number(let text)), ("decimal-nan-first", .number(let text)):
            Decimal(string: text).map { IndexForm($0) }
        case ("string", .text(let text)): IndexForm(text)
        case ("uuid", .text(let text)): UUID(uuidString: text).map { IndexForm($0) }
        default: nil
        }
    }
}

/// What a stored form that describes itself says of a field.
package enum IndexedValue: Sendable, Equatable {
    /// Not there, or `nil`.
    case absent
    case bool(Bool)
    case number(String)
    case text(String)
}
