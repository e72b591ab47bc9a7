// What is asked of a field's elements, beside whether one of them is a value. Each is one term about the elements,
// as an index over them answers it.

extension Field where Value: Collection & SendableMetatype, Value.Element: Equatable & Sendable {
    /// Whether one of `elements` is among the field's elements, or more; with none, for no object.
    public func contains(anyOf elements: some Sequence<Value.Element>) -> Condition<Root> {
        let hasOrder = !(elements is any Unordered)
        let elements = Array(elements)
        return elementTerm(
            .oneOf(elements), "contains any of \(shownList(elements, hasOrder: hasOrder))"
        ) { value in
            value.contains { elements.contains($0) }
        }
    }

    /// Whether all of `elements` are among the field's elements; with none, for every object.
    public func contains(allOf elements: some Sequence<Value.Element>) -> Condition<Root> {
        .all(of: inStableOrder(elements).map { contains($0) })
    }
}

extension Field {
    /// Whether the field has elements and one of `elements` is among them, or more; with none, for no object.
    public func contains<Elements: Collection & SendableMetatype>(
        anyOf elements: some Sequence<Elements.Element>
    ) -> Condition<Root> where Value == Elements?, Elements.Element: Equatable & Sendable {
        let hasOrder = !(elements is any Unordered)
        let elements = Array(elements)
        return elementTerm(
            .oneOf(elements), "contains any of \(shownList(elements, hasOrder: hasOrder))"
        ) { value in
            value?.contains { elements.contains($0) } ?? false
        }
    }

    /// Whether the field has elements and all of `elements` are among them; with none, for every object.
    public func contains<Elements: Collection & SendableMetatype>(
        allOf elements: some Sequence<Elements.Element>
    ) -> Condition<Root> where Value == Elements?, Elements.Element: Equatable & Sendable {
        .all(of: inStableOrder(elements).map { contains($0) })
    }

    /// A term about the elements of the field.
    fileprivate func elementTerm(
        _ region: IndexRegion?, _ text: @escaping @autoclosure @Sendable () -> String,
        _ test: @escaping @Sendable (Value) -> Bool
    ) -> Condition<Root> {
        let each = FieldPath(path.keyPath, isEach: true, chain: path.chain)
        let access = access
        return Condition(
            .term(
                ConditionTerm(each, region, { "\(each.name) \(text())" }, stored.map(test)) {
                    test(access.value(of: $0))
                }))
    }
}

extension Field where Value: Collection & SendableMetatype, Value.Element == String {
    /// Whether one of the texts begins with `prefix`; from an index over them where it is `.exact`: what a search field
    /// asks for, of words that the object has.
    ///
    /// ```swift
    /// // Index("words", each: \.words), which a property computes of the title
    /// let found = try posts.where { $0.words.contains(prefix: typed.lowercased()) }.fetch()
    /// ```
    ///
    /// See `contains(wordsOf:)` for a search of several words.
    public func contains(
        prefix: String, _ matching: TextMatching = .exact
    ) -> Condition<Root> {
        elementTerm(matching.region(ofPrefix: prefix), prefixText(prefix, matching)) { value in
            value.contains { matching.hasPrefix($0, prefix) }
        }
    }
}

extension Field {
    /// Whether there are texts and one of them begins with `prefix`; from an index over them where it is `.exact`.
    public func contains<Elements: Collection & SendableMetatype>(
        prefix: String, _ matching: TextMatching = .exact
    ) -> Condition<Root> where Value == Elements?, Elements.Element == String {
        elementTerm(matching.region(ofPrefix: prefix), prefixText(prefix, matching)) { value in
            value?.contains { matching.hasPrefix($0, prefix) } ?? false
        }
    }
}

extension Field where Value: Collection & SendableMetatype, Value.Element == String {
    /// Whether all words of `text` are among the field's, which are a text's `searchWords`: what a search field asks for.
    /// Without a word in `text`, every object matches.
    ///
    /// ```swift
    /// // var words: [String] { "\(title) \(text)".searchWords }, and Index("words", each: \.words)
    /// let found = try notes.where { $0.words.contains(wordsOf: typed) }.order(by: \.title).limit(20).fetch()
    /// ```
    ///
    /// The words may stand anywhere and in any order. The last one need only begin a word, as who types has not ended it,
    /// unless something else than a letter or a number follows it; what is added to its last letter, as in Hindi and Thai, may
    /// be missing yet. From an index over the field's elements, which has an entry for each word of an object: the rarest of
    /// the words are looked up, and the objects that they leave are asked for the others.
    public func contains(wordsOf text: String) -> Condition<Root> {
        SearchedWords(text).condition {
            contains($0)
        } begun: {
            contains(begun: $0)
        }
    }

    private func contains(begun beginning: WordBeginning) -> Condition<Root> {
        elementTerm(IndexRegion(prefix: beginning.text), prefixText(beginning.text)) { value in
            value.contains { beginning.isBegin(of: $0) }
        }
    }
}

extension Field {
    /// Whether there are words and all words of `text` are among them: as where the field is not optional. Without a word in
    /// `text`, every object matches, those without words too.
    public func contains<Elements: Collection & SendableMetatype>(
        wordsOf text: String
    ) -> Condition<Root> where Value == Elements?, Elements.Element == String {
        SearchedWords(text).condition {
            contains($0)
        } begun: {
            contains(begun: $0)
        }
    }

    private func contains<Elements: Collection & SendableMetatype>(
        begun beginning: WordBeginning
    ) -> Condition<Root> where Value == Elements?, Elements.Element == String {
        elementTerm(IndexRegion(prefix: beginning.text), prefixText(beginning.text)) { value in
            value?.contains { beginning.isBegin(of: $0) } ?? false
        }
    }
}

/// What has its elements in another order in each launch. An index whose condition is shown in another order would be another
/// index.
protocol Unordered {
    /// The elements in the order of what is shown of them.
    var shownInOrder: String { get }
}

extension Unordered where Self: Sequence {
    var shownInOrder: String { shownList(Array(self), hasOrder: false) }
}

extension Set: Unordered {}
extension Dictionary: Unordered {}
extension Dictionary.Keys: Unordered {}
extension Dictionary.Values: Unordered {}

/// The elements in the order in which they come, or, where that is another in each launch, in that of what is shown of them.
func inStableOrder<Element>(_ elements: some Sequence<Element>) -> [Element] {
    guard elements is any Unordered else { return Array(elements) }
    // All data of one size is shown alike.
    return elements.map { element -> (text: String, form: [UInt8], element: Element) in
        let form = (element as? any IndexRepresentable).map { IndexForm($0).bytes } ?? []
        return (shown(element), form, element)
    }.sorted {
        $0.text == $1.text ? $0.form.lexicographicallyPrecedes($1.form) : $0.text < $1.text
    }.map(\.element)
}

/// - Parameter hasOrder: `false` for what was in no order of its own.
func shownList(_ elements: [some Any], hasOrder: Bool) -> String {
    let all = elements.map { shown($0) }
    return "[\((hasOrder ? all : all.sorted()).joined(separator: ", "))]"
}

private func prefixText(_ prefix: String, _ matching: TextMatching = .exact) -> String {
    "contains what begins with \(matching.shown(prefix))"
}
