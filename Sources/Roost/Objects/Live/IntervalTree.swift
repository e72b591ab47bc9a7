/// Values by intervals of bytes, found by what is inside: a treap in the order of the lower bounds whose
/// nodes know the greatest upper bound below them.
struct IntervalTree<Value: AnyObject> {
    private final class Node {
        let interval: IndexRegion.Interval
        let id: UInt64
        let value: Value
        let priority: UInt64
        var left: Node?
        var right: Node?
        /// The greatest upper bound of the node and those below it; `nil` where one has none.
        var end: [UInt8]?

        init(_ interval: IndexRegion.Interval, _ id: UInt64, _ value: Value) {
            self.interval = interval
            self.id = id
            self.value = value
            // Spread, so that the tree is balanced in whatever order the intervals come.
            var mixed = id &+ 0x9e37_79b9_7f4a_7c15
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            priority = mixed ^ (mixed >> 31)
            end = interval.upper
        }

        func isBefore(_ lower: [UInt8], _ id: UInt64) -> Bool {
            interval.lower == lower ? self.id < id : bytes(interval.lower, precede: lower)
        }

        func update() {
            end = interval.upper
            for child in [left, right] {
                guard let child, let own = end else { continue }
                guard let other = child.end else {
                    end = nil
                    continue
                }
                if bytes(own, precede: other) { end = other }
            }
        }
    }

    private var root: Node?
    var isEmpty: Bool { root == nil }

    /// Two intervals of one `id` have different lower bounds.
    mutating func insert(_ interval: IndexRegion.Interval, _ id: UInt64, _ value: Value) {
        root = Self.insert(Node(interval, id, value), root)
    }

    mutating func remove(_ interval: IndexRegion.Interval, _ id: UInt64) {
        root = Self.remove(interval.lower, id, root)
    }

    /// Calls `body` with the value of each interval that has `point` in it.
    func forEach(containing point: [UInt8], _ body: (Value) -> Void) {
        Self.visit(root, point, body)
    }

    private static func visit(_ node: Node?, _ point: [UInt8], _ body: (Value) -> Void) {
        guard let node else { return }
        if let end = node.end, !bytes(point, precede: end) { return }
        visit(node.left, point, body)
        if bytes(point, precede: node.interval.lower) { return }
        if node.interval.upper.map({ bytes(point, precede: $0) }) ?? true { body(node.value) }
        visit(node.right, point, body)
    }

    /// Whether `body` says so of the value of an interval that has `point` in it.
    func contains(_ point: [UInt8], where body: (Value) -> Bool) -> Bool {
        Self.contains(root, point, body)
    }

    private static func contains(_ node: Node?, _ point: [UInt8], _ body: (Value) -> Bool) -> Bool {
        guard let node else { return false }
        if let end = node.end, !bytes(point, precede: end) { return false }
        if contains(node.left, point, body) { return true }
        if bytes(point, precede: node.interval.lower) { return false }
        if node.interval.upper.map({ bytes(point, precede: $0) }) ?? true, body(node.value) {
            return true
        }
        return contains(node.right, point, body)
    }

    private static func insert(_ node: Node, _ root: Node?) -> Node {
        guard let root else { return node }
        if node.priority > root.priority {
            (node.left, node.right) = split(root, node.interval.lower, node.id)
            node.update()
            return node
        }
        if root.isBefore(node.interval.lower, node.id) {
            root.right = insert(node, root.right)
        } else {
            root.left = insert(node, root.left)
        }
        root.update()
        return root
    }

    private static func split(
        _ node: Node?, _ lower: [UInt8], _ id: UInt64
    ) -> (before: Node?, behind: Node?) {
        guard let node else { return (nil, nil) }
        defer { node.update() }
        if node.isBefore(lower, id) {
            let (before, behind) = split(node.right, lower, id)
            node.right = before
            return (node, behind)
        }
        let (before, behind) = split(node.left, lower, id)
        node.left = behind
        return (before, node)
    }

    private static func remove(_ lower: [UInt8], _ id: UInt64, _ node: Node?) -> Node? {
        guard let node else { return nil }
        if node.id == id, node.interval.lower == lower { return merge(node.left, node.right) }
        if node.isBefore(lower, id) {
            node.right = remove(lower, id, node.right)
        } else {
            node.left = remove(lower, id, node.left)
        }
        node.update()
        return node
    }

    private static func merge(_ left: Node?, _ right: Node?) -> Node? {
        guard let left else { return right }
        guard let right else { return left }
        defer {
            left.update()
            right.update()
        }
        if left.priority > right.priority {
            left.right = merge(left.right, right)
            return left
        }
        right.left = merge(left, right.left)
        return right
    }
}
