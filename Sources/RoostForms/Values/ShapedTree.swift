import Roost
import RoostCoding

/// How the coder wrote a value: which members its objects have, those that are absent included, and in which
/// order. A `ValueTree` says nothing of what is absent.
package indirect enum WrittenShape: Sendable, Decodable {
    case leaf
    case array([WrittenShape])
    case object([Member])

    package struct Member: Sendable {
        var name: String
        /// `nil` where the member is absent.
        var shape: WrittenShape?
    }

    package init(from decoder: any Decoder) throws {
        self = .leaf
        if try DistinctLeaf(from: decoder) != nil { return }
        if let written = try WrittenMembers(from: decoder) {
            let container = try decoder.container(keyedBy: ValueTree.Name.self)
            self = .object(
                try written.members.map { member in
                    let key = ValueTree.Name(stringValue: member.name)
                    let isNull = try !member.isAbsent && container.decodeNil(forKey: key)
                    return Member(
                        name: member.name,
                        shape: member.isAbsent
                            ? nil
                            : isNull ? .leaf : try container.decode(Self.self, forKey: key))
                })
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [WrittenShape] = []
            while !container.isAtEnd {
                elements.append(try container.decodeNil() ? .leaf : container.decode(Self.self))
            }
            self = .array(elements)
        }
    }
}

/// A tree that is written as the value was that it was made from: what is absent stays so where the tree has no
/// member of that name, and members keep their order.
struct ShapedTree: Encodable {
    let tree: ValueTree
    let shape: WrittenShape

    func encode(to encoder: any Encoder) throws {
        switch (tree, shape) {
        case (.object(let members), .object(let written)):
            try encode(members, as: written, to: encoder)
        case (.array(let elements), .array(let shapes)):
            var container = encoder.unkeyedContainer()
            for (index, element) in elements.enumerated() {
                if element == .null {
                    try container.encodeNil()
                } else {
                    // What was added is like nothing that was there.
                    let shape = index < shapes.count ? shapes[index] : .leaf
                    try container.encode(ShapedTree(tree: element, shape: shape))
                }
            }
        default: try tree.encode(to: encoder)
        }
    }

    private func encode(
        _ members: [ValueTree.Member], as written: [WrittenShape.Member], to encoder: any Encoder
    ) throws {
        var container = encoder.container(keyedBy: ValueTree.Name.self)
        // By their bytes: Swift holds more than those to be equal.
        let places = Dictionary(
            members.indices.map { (Array(members[$0].name.utf8), $0) }, uniquingKeysWith: { $1 })
        var isWritten = [Bool](repeating: false, count: members.count)
        for member in written {
            let key = ValueTree.Name(stringValue: member.name)
            if let place = places[Array(member.name.utf8)] {
                isWritten[place] = true
                try Self.encode(members[place].value, member.shape ?? .leaf, key, &container)
            } else if member.shape == nil {
                try container.encodeIfPresent(nil as Bool?, forKey: key)
            }
        }
        for (place, member) in members.enumerated() where !isWritten[place] {
            try Self.encode(
                member.value, .leaf, ValueTree.Name(stringValue: member.name), &container)
        }
    }

    private static func encode(
        _ tree: ValueTree, _ shape: WrittenShape, _ key: ValueTree.Name,
        _ container: inout KeyedEncodingContainer<ValueTree.Name>
    ) throws {
        guard tree != .null else { return try container.encodeNil(forKey: key) }
        try container.encode(ShapedTree(tree: tree, shape: shape), forKey: key)
    }
}
