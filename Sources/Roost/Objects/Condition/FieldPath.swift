/// How a field behind optionals is reached; docs/decisions/0241. The key path that reads it goes through a subscript of this library's
/// and could only be compared to its like.
struct FieldChain: Equatable, Sendable {
    /// Immutable, as all key paths are, and made from `Sendable` ones only: so they may be shared. Each begins where the
    /// one before ends, in the value of an optional.
    nonisolated(unsafe) private let links: [AnyKeyPath]
    /// Whether the links are stored properties, so that their names tell which they are. A subscript's name does
    /// not have its argument.
    private let isStored: Bool
    /// Which links are behind an optional in a key path that is written out: `a?.b.c` has one `?`, though each link
    /// gives an optional here.
    private let hasMark: [Bool]
    /// Whether what the last link is of gives an optional of itself.
    private let isOptional: Bool

    init(_ first: AnyKeyPath, isStored: Bool) {
        self.init(links: [first], isStored: isStored, hasMark: [false], isOptional: true)
    }

    private init(links: [AnyKeyPath], isStored: Bool, hasMark: [Bool], isOptional: Bool) {
        self.links = links
        self.isStored = isStored
        self.hasMark = hasMark
        self.isOptional = isOptional
    }

    static func == (left: FieldChain, right: FieldChain) -> Bool { left.links == right.links }

    /// With one more link.
    ///
    /// - Parameter isOptional: Whether the link's own type is an optional.
    func appending(_ link: AnyKeyPath, isStored: Bool, isOptional: Bool) -> FieldChain {
        FieldChain(
            links: links + [link], isStored: self.isStored && isStored,
            hasMark: hasMark + [self.isOptional], isOptional: isOptional)
    }

    /// "author?.address.city"; as the runtime prints a key path, but for its root and the last "?".
    var text: String {
        zip(links, hasMark).reduce("") { text, next in
            let name = FieldPath.addressedName(of: next.0)
            return text.isEmpty ? name : text + (next.1 ? "?." : ".") + name
        }
    }

    /// Whether a key path that is written out, such as `\.author?.address.city`, is to the same field. What it has
    /// behind an optional can only be told by its text.
    func isWrittenOut(as keyPath: AnyKeyPath) -> Bool {
        guard isStored else { return false }
        let text = FieldPath.addressedName(of: keyPath)
        return (text.hasSuffix("?") ? String(text.dropLast()) : text) == self.text
    }
}

/// Which field of an object, and whether it or each of its elements.
package struct FieldPath: Equatable, Sendable {
    /// Immutable, as all key paths are, and made from `Sendable` ones only: so it may be shared.
    nonisolated(unsafe) let keyPath: AnyKeyPath
    let isEach: Bool
    /// Of a field behind an optional that a condition names.
    let chain: FieldChain?

    init(_ keyPath: AnyKeyPath, isEach: Bool = false, chain: FieldChain? = nil) {
        self.keyPath = keyPath
        self.isEach = isEach
        self.chain = chain
    }

    /// The field that a key path reads.
    package init<Root, Value>(of keyPath: KeyPath<Root, Value> & Sendable) { self.init(keyPath) }

    package static func == (left: FieldPath, right: FieldPath) -> Bool {
        // Behind an optional one property may be asked for as `String?` and as `String??`, by the same links and the
        // same text.
        guard left.isEach == right.isEach,
            type(of: left.keyPath).valueType == type(of: right.keyPath).valueType
        else { return false }
        switch (left.chain, right.chain) {
        case (nil, nil): return left.keyPath == right.keyPath
        case (let left?, let right?): return left == right
        case (let chain?, nil): return chain.isWrittenOut(as: right.keyPath)
        case (nil, let chain?): return chain.isWrittenOut(as: left.keyPath)
        }
    }

    var addressedName: String { chain?.text ?? Self.addressedName(of: keyPath) }
    /// As it is shown, and the same in every process.
    var name: String { Self.withoutAddresses(addressedName) }

    static func name(of keyPath: AnyKeyPath) -> String {
        withoutAddresses(addressedName(of: keyPath))
    }

    /// Of a property that is computed it has the address of its code, as the runtime prints that.
    static func addressedName(of keyPath: AnyKeyPath) -> String {
        // "\Post.author.name" without its root.
        let text = keyPath.debugDescription
        guard let dot = text.firstIndex(of: ".") else { return text }
        return String(text[text.index(after: dot)...])
    }

    /// What stands for a property that is computed.
    static let computedName = "<computed>"

    /// "<computed 0x0000563e6e55c1c0 (Int)>" becomes "<computed>".
    private static func withoutAddresses(_ text: String) -> String {
        var (named, rest) = ("", text[...])
        while let begin = rest.firstRange(of: "<computed 0x") {
            var depth = 0
            let end = rest[begin.upperBound...].firstIndex { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return character == ">" && depth == 0
            }
            guard let end else { break }
            named += rest[..<begin.lowerBound] + computedName
            rest = rest[rest.index(after: end)...]
        }
        return named + rest
    }
}
