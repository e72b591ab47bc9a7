/// Elements in the order in which they came, of which there is mostly none or one: that takes no memory of its own.
///
/// - `others` follow `first`, and are none where it is `nil`.
struct FewElements<Element>: Sequence {
    private var first: Element?
    private var others: [Element] = []

    var isEmpty: Bool { first == nil }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    mutating func append(contentsOf elements: FewElements) {
        for element in elements { append(element) }
    }

    struct Iterator: IteratorProtocol {
        fileprivate var first: Element?
        fileprivate var others: [Element].Iterator

        mutating func next() -> Element? { first.take() ?? others.next() }
    }

    func makeIterator() -> Iterator { Iterator(first: first, others: others.makeIterator()) }
}

extension FewElements: Sendable where Element: Sendable {}
