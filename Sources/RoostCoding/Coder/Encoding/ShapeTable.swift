/// The key names and object shapes of a message, as a tree.
///
/// A node stands for a list of keys: those on the way from the root to it. An object being
/// written moves from node to node, one key at a time, so that the usual key costs one
/// comparison with the first child.
///
/// - The tree outlives a message, since the next one usually has the same shapes. Numbers are
///   given anew in each message, in the order of first use: they are valid only where the stamp
///   of a key or a node is that of the message, so that equal values have equal bytes.
/// - Node 0 is the empty list.
struct ShapeTable: Sendable {
    private struct Node {
        var key: Int32
        var parent: Int32
        var firstChild: Int32 = -1
        var nextSibling: Int32 = -1
        var childCount: Int32 = 0
        var shapeNumber: Int32 = 0
        var stamp: UInt64 = 0
    }

    private struct Key {
        var name: String
        /// Strings of ASCII are equal only when their bytes are; others may be equal otherwise.
        var isASCII: Bool
        var number: Int32 = 0
        var stamp: UInt64 = 0
    }

    private struct Edge: Hashable {
        var node: Int32
        var name: [UInt8]
    }

    /// Children beyond this many are looked up in `manyChildren`.
    private static let scannedChildCount: Int32 = 8
    /// A tree that has grown beyond this many nodes is not kept for the next message.
    private static let keptNodeCount = 4096

    private var nodes: ContiguousArray<Node> = [Node(key: -1, parent: -1)]
    private var keys: ContiguousArray<Key> = []
    private var keyIndices: [[UInt8]: Int32] = [:]
    private var manyChildren: [Edge: Int32] = [:]
    private var stamp: UInt64 = 0
    private var messageKeys: ContiguousArray<Int32> = []
    private var messageShapes: ContiguousArray<Int32> = []

    /// For where a table must be, and is not used.
    static let unused = ShapeTable()

    var isWorthKeeping: Bool { nodes.count <= Self.keptNodeCount }

    mutating func beginMessage() {
        stamp += 1
        messageKeys.removeAll(keepingCapacity: true)
        messageShapes.removeAll(keepingCapacity: true)
    }

    /// The node for the keys of `node` and then `name`.
    @inline(__always)
    mutating func child(of node: Int32, named name: String) -> Int32 {
        let child = nodes[Int(node)].firstChild
        if child >= 0 {
            let key = Int(nodes[Int(child)].key)
            if keys[key].isASCII, keys[key].name == name,
                keys[key].name.utf8.count == name.utf8.count
            {
                return child
            }
        }
        return otherChild(of: node, named: name)
    }

    /// The number of a node's shape in this message.
    @inline(__always)
    mutating func shapeNumber(of node: Int32) -> Int {
        if nodes[Int(node)].stamp != stamp { nameShape(node) }
        return Int(nodes[Int(node)].shapeNumber)
    }

    @inline(never)
    private mutating func otherChild(of node: Int32, named name: String) -> Int32 {
        if nodes[Int(node)].childCount > Self.scannedChildCount {
            let edge = Edge(node: node, name: Array(name.utf8))
            if let child = manyChildren[edge] { return child }
            return addChild(to: node, edge)
        }
        var child = nodes[Int(node)].firstChild
        while child >= 0 {
            if keys[Int(nodes[Int(child)].key)].name.utf8.elementsEqual(name.utf8) { return child }
            child = nodes[Int(child)].nextSibling
        }
        return addChild(to: node, Edge(node: node, name: Array(name.utf8)))
    }

    private mutating func addChild(to node: Int32, _ edge: Edge) -> Int32 {
        let key = keyIndices[edge.name] ?? addKey(edge.name)
        let child = Int32(nodes.count)
        nodes.append(Node(key: key, parent: node, nextSibling: nodes[Int(node)].firstChild))
        nodes[Int(node)].firstChild = child
        nodes[Int(node)].childCount += 1
        manyChildren[edge] = child
        return child
    }

    private mutating func addKey(_ bytes: [UInt8]) -> Int32 {
        let key = Int32(keys.count)
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        keys.append(Key(name: String(decoding: bytes, as: UTF8.self), isASCII: isASCII))
        keyIndices[bytes] = key
        return key
    }

    private mutating func nameShape(_ node: Int32) {
        for key in path(to: node) where keys[Int(key)].stamp != stamp {
            keys[Int(key)].stamp = stamp
            keys[Int(key)].number = Int32(messageKeys.count)
            messageKeys.append(key)
        }
        nodes[Int(node)].stamp = stamp
        nodes[Int(node)].shapeNumber = Int32(messageShapes.count)
        messageShapes.append(node)
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

extension ShapeTable {
    /// Appends the tables of the keys and of the shapes that this message uses.
    func write(into writer: inout BinaryWriter) {
        writer.writeVarint(UInt64(messageKeys.count))
        for key in messageKeys { writer.write(keys[Int(key)].name) }
        writer.writeVarint(UInt64(messageShapes.count))
        for node in messageShapes {
            let path = path(to: node)
            writer.writeVarint(UInt64(path.count))
            for key in path { writer.writeVarint(UInt64(keys[Int(key)].number)) }
        }
    }
}
