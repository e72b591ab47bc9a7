import Foundation

/// How text is compared where a condition looks into it.
public enum TextMatching: Sendable {
    /// As `contains`, `hasPrefix` and `hasSuffix` in a file that imports Foundation: its `contains` finds no empty text in
    /// any, where the other ways of matching find it in each.
    case exact
    /// Upper and lower case are the same.
    case ignoringCase
    /// As a search field wants it: "Cafe" finds "CAFÉ".
    case ignoringCaseAndMarks

    fileprivate var options: String.CompareOptions? {
        switch self {
        case .exact: nil
        case .ignoringCase: .caseInsensitive
        case .ignoringCaseAndMarks: [.caseInsensitive, .diacriticInsensitive]
        }
    }

    /// A text that is looked for, as `explain` and the shape of an index say it.
    func shown(_ part: String) -> String {
        let part = Roost.shown(part)
        return switch self {
        case .exact: part
        case .ignoringCase: part + " whatever the case"
        case .ignoringCaseAndMarks: part + " whatever the case and the marks"
        }
    }

    fileprivate func contains(_ text: String, _ part: String) -> Bool {
        guard let options else { return text.contains(part) }
        return part.isEmpty || text.range(of: part, options: options) != nil
    }

    func hasPrefix(_ text: String, _ part: String) -> Bool {
        guard let options else { return text.hasPrefix(part) }
        return part.isEmpty || text.range(of: part, options: [options, .anchored]) != nil
    }

    /// What an index knows of the texts that begin with `prefix`.
    func region(ofPrefix prefix: String) -> IndexRegion? {
        if case .exact = self { IndexRegion(prefix: prefix) } else { nil }
    }

    fileprivate func hasSuffix(_ text: String, _ part: String) -> Bool {
        guard let options else { return text.hasSuffix(part) }
        return part.isEmpty
            || text.range(of: part, options: [options, .anchored, .backwards]) != nil
    }
}

extension Field where Value == String {
    /// Whether the text has `part` in it. Looked for in each object that the rest of the condition
    /// leaves.
    public func contains(_ part: String, _ matching: TextMatching = .exact) -> Condition<Root> {
        term(nil, "contains \(matching.shown(part))") { matching.contains($0, part) }
    }

    /// Whether Foundation's method of this name finds `part` in the text: as a search in the user's language does. It is
    /// asked of each object that the rest of the condition leaves.
    public func localizedStandardContains(_ part: String) -> Condition<Root> {
        term(nil, "contains \(shown(part)), as a search finds it") {
            $0.localizedStandardContains(part)
        }
    }

    /// Whether Foundation's method of this name finds `part` in the text, in upper or lower case.
    public func localizedCaseInsensitiveContains(_ part: String) -> Condition<Root> {
        term(nil, "contains \(shown(part)) in any case") {
            $0.localizedCaseInsensitiveContains(part)
        }
    }

    /// Whether the text begins with `part`; from an index where it is `.exact`.
    public func hasPrefix(_ part: String, _ matching: TextMatching = .exact) -> Condition<Root> {
        term(matching.region(ofPrefix: part), "begins with \(matching.shown(part))") {
            matching.hasPrefix($0, part)
        }
    }

    /// The text in lower case, to be compared. No index has it: a property that is computed, `mailKey`, may have one.
    public func lowercased() -> Field<Root, String> { self[dynamicMember: \.inLowerCase] }

    /// The text in upper case, to be compared.
    public func uppercased() -> Field<Root, String> { self[dynamicMember: \.inUpperCase] }

    /// Whether the text ends with `part`.
    public func hasSuffix(_ part: String, _ matching: TextMatching = .exact) -> Condition<Root> {
        term(nil, "ends with \(matching.shown(part))") { matching.hasSuffix($0, part) }
    }
}

extension Field where Value == String? {
    /// Whether there is a text and it has `part` in it.
    public func contains(_ part: String, _ matching: TextMatching = .exact) -> Condition<Root> {
        present(nil, "contains \(matching.shown(part))") { matching.contains($0, part) }
    }

    /// Whether there is a text and it begins with `part`; from an index where it is `.exact`.
    public func hasPrefix(_ part: String, _ matching: TextMatching = .exact) -> Condition<Root> {
        present(matching.region(ofPrefix: part), "begins with \(matching.shown(part))") {
            matching.hasPrefix($0, part)
        }
    }

    /// Whether there is a text, and Foundation's method of this name finds `part` in it.
    public func localizedStandardContains(_ part: String) -> Condition<Root> {
        present(nil, "contains \(shown(part)), as a search finds it") {
            $0.localizedStandardContains(part)
        }
    }

    /// Whether there is a text, and Foundation's method of this name finds `part` in it.
    public func localizedCaseInsensitiveContains(_ part: String) -> Condition<Root> {
        present(nil, "contains \(shown(part)) in any case") {
            $0.localizedCaseInsensitiveContains(part)
        }
    }

    /// The text in lower case, to be compared. No index has it: a property that is computed, `mailKey`, may have one.
    public func lowercased() -> Field<Root, String?> { self[dynamicMember: \.inLowerCase] }

    /// The text in upper case, to be compared.
    public func uppercased() -> Field<Root, String?> { self[dynamicMember: \.inUpperCase] }

    /// Whether there is a text and it ends with `part`.
    public func hasSuffix(_ part: String, _ matching: TextMatching = .exact) -> Condition<Root> {
        present(nil, "ends with \(matching.shown(part))") { matching.hasSuffix($0, part) }
    }
}

extension String {
    fileprivate var inLowerCase: String { lowercased() }
    fileprivate var inUpperCase: String { uppercased() }
}
