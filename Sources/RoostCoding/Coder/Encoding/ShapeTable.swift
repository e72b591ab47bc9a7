/// The object shapes of a message, as a tree.
///
/// A node stands for a list of keys: those on the way from the root to it. An object being
/// written moves from node to node, one key at a time, so that the usual key costs one
/// comparison with the child that was taken last.
///
/// - The tree outlives a message, since the next one usually has the same shapes. Numbers are
///   given anew in each message, in the order of first use: a node's is valid only where its
///   stamp is that of the message, so that equal values have equal bytes.
/// - Node 0 is the empty list.
/// - The bits in a node are those of the name that its key keeps.
struct ShapeTable {
    private struct Node {
        var bits: StringBits
        var likelyChild: Int32 = -1
        var key: Int32
        var parent: Int32
        var firstChild: Int32 = -1
        var nextSibling: Int32 = -1
        var childCount: Int32 = 0
        var shapeNumber: Int32 = 0
        var stamp: UInt64 = 0
        var repetition = Repetition.unknown
    }

    /// Whether a key stands more than once on the way to a node.
    private enum Repetition: UInt8 {
        case unknown, none, some
    }

    private struct Key {
        var name: String
        /// As it is written in tables of shapes.
        var code: [UInt8]
    }

    private struct Edge: Hashable {
        var node: Int32
        var key: Int32
    }

    /// The bytes of a table that was written before.
    private struct WrittenTable {
        var shapes: ContiguousArray<Int32> = []
        var bytes: [UInt8] = []
    }

    /// Children beyond this many are looked up in `manyChildren`.
    private static let scannedChildCount: Int32 = 8
    /// A tree that has grown beyond this many nodes is not kept for the next message.
    private static let keptNodeCount = 4096
    private static let writtenCount = 16

    private var nodes: ContiguousArray<Node> = [Node(bits: StringBits(""), key: -1, parent: -1)]
    private var keys: ContiguousArray<Key> = []
    private var keyIndices: [[UInt8]: Int32] = [:]
    private var manyChildren: [Edge: Int32] = [:]
    private var stamp: UInt64 = 1
    private var messageShapes: ContiguousArray<Int32> = []
    private var written = ContiguousArray(repeating: WrittenTable(), count: writtenCount)

    var isWorthKeeping: Bool { nodes.count <= Self.keptNodeCount }

    mutating func beginMessage() {
        stamp += 1
        messageShapes.removeAll(keepingCapacity: true)
    }

    /// The node for the keys of `node` and then `name`.
    @inline(__always)
    mutating func child(of node: Int32, named name: String) -> Int32 {
        let child = nodes[Int(node)].likelyChild
        if child >= 0, nodes[Int(child)].bits == StringBits(name) { return child }
        return otherChild(of: node, named: name)
    }

    /// The last key of a node; `nil` for the empty list.
    func lastName(of node: Int32) -> String? {
        node == 0 ? nil : keys[Int(nodes[Int(node)].key)].name
    }

    /// The list of keys without its last.
    func parent(of node: Int32) -> Int32 { max(nodes[Int(node)].parent, 0) }

    /// What a list of keys has for a number where one of them stands in it more than once: it is no shape.
    static let noNumber = Int(Int32.max)

    /// The number of a node's shape in this message, or `noNumber`.
    @inline(__always)
    mutating func shapeNumber(of node: Int32) -> Int {
        if nodes[Int(node)].stamp != stamp { nameShape(node) }
        return Int(nodes[Int(node)].shapeNumber)
    }

    /// The number of shapes in this message.
    var shapeCount: Int { messageShapes.count }

    @inline(never)
    private mutating func otherChild(of node: Int32, named name: String) -> Int32 {
        let child = knownChild(of: node, named: name) ?? addChild(to: node, name)
        nodes[Int(node)].likelyChild = child
        return child
    }

    private func knownChild(of node: Int32, named name: String) -> Int32? {
        if nodes[Int(node)].childCount > Self.scannedChildCount {
            return keyIndices[Array(name.utf8)].flatMap { manyChildren[Edge(node: node, key: $0)] }
        }
        var child = nodes[Int(node)].firstChild
        while child >= 0 {
            // By their bytes: Swift holds more than those to be equal.
            if keys[Int(nodes[Int(child)].key)].name.utf8.elementsEqual(name.utf8) { return child }
            child = nodes[Int(child)].nextSibling
        }
        return nil
    }

    private mutating func addChild(to node: Int32, _ name: String) -> Int32 {
        let key = keyIndices[Array(name.utf8)] ?? addKey(name)
        let child = Int32(nodes.count)
        nodes.append(
            Node(
                bits: StringBits(keys[Int(key)].name), key: key, parent: node,
                nextSibling: nodes[Int(node)].firstChild))
        nodes[Int(node)].firstChild = child
        nodes[Int(node)].childCount += 1
        manyChildren[Edge(node: node, key: key)] = child
        return child
    }

    private mutating func addKey(_ name: String) -> Int32 {
        let key = Int32(keys.count)
        keys.append(Key(name: name, code: NameCodec.shared.encode(name)))
        keyIndices[Array(name.utf8)] = key
        return key
    }

    private mutating func nameShape(_ node: Int32) {
        guard !repeatsKey(node) else {
            nodes[Int(node)].shapeNumber = Int32(Self.noNumber)
            return
        }
        nodes[Int(node)].stamp = stamp
        nodes[Int(node)].shapeNumber = Int32(messageShapes.count)
        messageShapes.append(node)
    }
}

extension ShapeTable {
    private static let emptyTable: [UInt8] = [0]

    /// The table of the shapes that this message uses.
    mutating func messageTable() -> [UInt8] {
        guard let last = messageShapes.last else { return Self.emptyTable }
        let slot = Int(last) % Self.writtenCount
        if written[slot].shapes != messageShapes {
            let shapes = ContiguousArray(messageShapes[...])
            written[slot] = WrittenTable(shapes: shapes, bytes: makeTable())
        }
        return written[slot].bytes
    }

    /// The number of shapes; for each the number of its keys, and each key: its code, after
    /// twice the code's length, or one more than twice its number, if it stood here before.
    private func makeTable() -> [UInt8] {
        var writer = BinaryWriter(capacity: 256)
        var numbers: [Int32: Int] = [:]
        writer.writeVarint(UInt64(messageShapes.count))
        for node in messageShapes {
            let path = path(to: node)
            writer.writeVarint(UInt64(path.count))
            for key in path {
                if let number = numbers[key] {
                    writer.writeVarint(UInt64(number) << 1 | 1)
                } else {
                    numbers[key] = numbers.count
                    let code = keys[Int(key)].code
                    writer.writeVarint(UInt64(code.count) << 1)
                    code.withUnsafeBytes { writer.writeRaw($0) }
                }
            }
        }
        return [UInt8](UnsafeRawBufferPointer(start: writer.base, count: writer.count))
    }

    /// Whether a key stands more than once in the list of a node. It is found out once.
    mutating func repeatsKey(_ node: Int32) -> Bool {
        if nodes[Int(node)].repetition == .unknown {
            let keys = path(to: node)
            nodes[Int(node)].repetition = Set(keys).count == keys.count ? .none : .some
        }
        return nodes[Int(node)].repetition == .some
    }

    /// The numbers of the keys of a node, in order.
    func keyNumbers(of node: Int32) -> [Int32] { Array(path(to: node)) }

    /// The node of a list of keys.
    mutating func node(ofKeys numbers: [Int32]) -> Int32 {
        numbers.reduce(0) { child(of: $0, named: keys[Int($1)].name) }
    }

    private func path(to node: Int32) -> ReversedCollection<ContiguousArray<Int32>> {
        var path: ContiguousArray<Int32> = []
        var node = node
        while node != 0 {
            path.append(nodes[Int(node)].key)
            node = nodes[Int(node)].parent
        }
        return path.reversed()
    }
}
