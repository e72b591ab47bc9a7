/// An object as conditions see it: its fields, by name.
///
/// ```swift
/// posts.where { $0.priority > 100 && $0.color == .red }
/// ```
///
/// The closure is run once, to make the condition; nothing in it is run for an object, but for what
/// `satisfies` is given. A property that is computed is a field too; what it gives is found
/// by an index that names it, as long as it gives the same (see ``Index``).
@dynamicMemberLookup
public struct Row<Root>: Sendable {
    /// A stored property of the object, or one of a property of it, for a condition.
    public subscript<Value>(
        dynamicMember path: KeyPath<Root, Value> & Sendable
    ) -> Field<Root, Value> {
        Field(path)
    }

    /// Objects for which `body` says so. It is called for each object that the rest of the condition
    /// leaves, which are read whole for it. For a live query that is while writers of the repository wait: it looks at
    /// the object alone, and does not use the workspace.
    public func satisfies(_ body: @escaping @Sendable (Root) -> Bool) -> Condition<Root> {
        Condition(
            .term(
                ConditionTerm(nil, nil, { "a closure" }, nil, isComparison: false) {
                    body($0.pointee)
                }))
    }
}

/// One field of an object, to be compared in a condition.
@dynamicMemberLookup
public struct Field<Root, Value>: Sendable {
    let access: FieldAccess<Root, Value>
    let path: FieldPath
    let stored: StoredAccess<Root, Value>

    init(_ keyPath: KeyPath<Root, Value> & Sendable) {
        self.init(keyPath, StoredAccess(keyPath))
    }

    fileprivate init(
        _ keyPath: KeyPath<Root, Value> & Sendable, _ stored: StoredAccess<Root, Value>,
        chain: FieldChain? = nil
    ) {
        access = FieldAccess(keyPath)
        path = FieldPath(keyPath, chain: chain)
        self.stored = stored
    }

    /// A field of a field.
    public subscript<Inner>(
        dynamicMember inner: KeyPath<Value, Inner> & Sendable
    ) -> Field<Root, Inner> {
        Field<Root, Inner>(
            sendable(access.keyPath.appending(path: inner)), stored.map { $0[keyPath: inner] },
            // What an optional has itself, not what is in it: no key path that is written out is compared to it.
            chain: path.chain.map { $0.appending(inner, isStored: false, isOptional: false) })
    }

    /// A field of what may be `nil`, and then is `nil` too.
    public subscript<Wrapped, Inner>(
        dynamicMember inner: KeyPath<Wrapped, Inner> & Sendable
    ) -> Field<Root, Inner?> where Value == Wrapped? {
        Field<Root, Inner?>(
            sendable(access.keyPath.appending(path: \.[presentField: inner])),
            stored.map { $0[presentField: inner] },
            chain: chain.appending(
                inner, isStored: MemoryLayout<Wrapped>.offset(of: inner) != nil, isOptional: false))
    }

    /// A field of what may be `nil`, and is so itself.
    public subscript<Wrapped, Inner>(
        dynamicMember inner: KeyPath<Wrapped, Inner?> & Sendable
    ) -> Field<Root, Inner?> where Value == Wrapped? {
        Field<Root, Inner?>(
            sendable(access.keyPath.appending(path: \.[presentOptional: inner])),
            stored.map { $0[presentOptional: inner] },
            chain: chain.appending(
                inner, isStored: MemoryLayout<Wrapped>.offset(of: inner) != nil, isOptional: true))
    }

    private var chain: FieldChain {
        path.chain ?? FieldChain(path.keyPath, isStored: access.isStored)
    }

    /// Objects of which `body` says so of this field; as ``Row/satisfies(_:)``.
    public func satisfies(_ body: @escaping @Sendable (Value) -> Bool) -> Condition<Root> {
        term(nil, "satisfies a closure", isComparison: false) { body($0) }
    }

    func term(
        _ region: IndexRegion?, _ text: @escaping @autoclosure @Sendable () -> String,
        isComparison: Bool = true, values: (@Sendable () -> [any Sendable])? = nil,
        _ test: @escaping @Sendable (Value) -> Bool
    ) -> Condition<Root> {
        let access = access
        let path = path
        return Condition(
            .term(
                ConditionTerm(
                    path, region, { "\(path.name) \(text())" }, stored.map(test),
                    isComparison: isComparison, values: values
                ) {
                    test(access.value(of: $0))
                }))
    }
}

/// A path that was joined of two `Sendable` ones: it captures what they capture, and nothing else. That
/// it is `Sendable` too the compiler cannot say.
func sendable<Root, Value>(_ path: KeyPath<Root, Value>) -> KeyPath<Root, Value> & Sendable {
    unsafeBitCast(path, to: (KeyPath<Root, Value> & Sendable).self)
}

extension Optional {
    subscript<Inner>(presentField path: KeyPath<Wrapped, Inner> & Sendable) -> Inner? {
        self.map { $0[keyPath: path] }
    }

    subscript<Inner>(presentOptional path: KeyPath<Wrapped, Inner?> & Sendable) -> Inner? {
        self.flatMap { $0[keyPath: path] }
    }
}

// `$0.tags[0]` would be found as a key path, and read beyond the end of an object's tags. These are found before it, and
// no condition can use them, as its closure does not throw: that they were unavailable would have the key path taken.
extension Field where Value: RandomAccessCollection, Value.Index == Int {
    /// Not to be used: an object may have no such element.
    @available(
        *, deprecated,
        message: "an object may have no such element: ask for `first`, `contains` or `satisfies`"
    )
    public subscript(index: Int) -> Field<Root, Value.Element> {
        get throws(NoSuchElement) { throw NoSuchElement() }
    }

    /// Not to be used: an object may have no such elements.
    @available(
        *, deprecated,
        message: "an object may have no such elements: ask with `contains` or `satisfies`"
    )
    public subscript<Places: RangeExpression<Int>>(range: Places) -> Field<Root, Value.SubSequence>
    {
        get throws(NoSuchElement) { throw NoSuchElement() }
    }
}

extension Field {
    /// Not to be used: an object may have no such element.
    @available(
        *, deprecated,
        message: "an object may have no such element: ask for `first`, `contains` or `satisfies`"
    )
    public subscript<Elements: RandomAccessCollection>(
        index: Int, _ elements: Elements.Type = Elements.self
    ) -> Field<Root, Elements.Element?> where Value == Elements?, Elements.Index == Int {
        get throws(NoSuchElement) { throw NoSuchElement() }
    }
}

/// Why a condition compares no element by its index.
public struct NoSuchElement: Error {}

/// How a field is read: at its offset where it has one, which takes a tenth of a key path's time.
struct FieldAccess<Root, Value>: Sendable {
    let keyPath: KeyPath<Root, Value> & Sendable
    private let offset: Int?

    init(_ keyPath: KeyPath<Root, Value> & Sendable) {
        self.keyPath = keyPath
        offset = MemoryLayout<Root>.offset(of: keyPath)
    }

    /// Whether it is a stored property, or one of such a one.
    var isStored: Bool { offset != nil }

    @inline(__always)
    func value(of object: UnsafePointer<Root>) -> Value {
        guard let offset else { return object.pointee[keyPath: keyPath] }
        return UnsafeRawPointer(object).advanced(by: offset)
            .assumingMemoryBound(to: Value.self).pointee
    }
}
