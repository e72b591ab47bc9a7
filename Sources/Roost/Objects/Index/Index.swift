/// How a repository finds its objects by what is in them.
///
/// ```swift
/// extension Post: Indexed {
///     static var indexes: [Index<Post>] { [
///         Index("priority", \.priority),
///         Index("color-priority", \.color, .descending(\.priority)),
///         Index("slug", \.slug, isUnique: true),
///         Index("tags", each: \.tags),
///         Index("due", \.due, where: { $0.color != .green }),
///     ] }
/// }
/// ```
///
/// - An index has an entry for each object, or for each distinct element of the field. It is written in
///   one batch with the object.
/// - It is known by its name and the shape of its fields: another shape under the same name is another
///   index, which is built anew. A closure in `where` has no shape, nor has what a property or a subscript
///   computes: give the index another name when you change it, or take another one of the same type. Each opening
///   compares up to 32 objects with such an index before it is used, and builds it anew where one does not agree;
///   a change that few objects show may be missed.
/// - An entry holds at most 1 KiB of a field.
public struct Index<Root>: Sendable {
    /// What tells it from the type's other indexes. With another shape under the same name it is another index.
    public let name: String
    /// Whether no two objects may have the same values.
    public let isUnique: Bool
    let fields: [IndexField<Root>]
    /// How the form of each field is laid out. Beside the fields, as these are generic: asking them for it
    /// at each entry costs as much as reading the entry.
    let layouts: [FieldLayout]
    let filter: ConditionNode<Root>?
    let maker: EntryMaker
    /// Whether two declarations of one shape make the same entries: what a property computes, which one of a type it is,
    /// and what a closure in `where` says has no shape. docs/decisions/0253.
    let isToldByShape: Bool

    init(
        name: String, isUnique: Bool, fields: [IndexField<Root>],
        filter: ((Row<Root>) -> any ConditionConvertible<Root>)?
    ) {
        self.name = name
        self.isUnique = isUnique
        self.fields = fields
        layouts = fields.map { FieldLayout($0.shape.layout, isInverted: $0.isDescending) }
        let filter = filter.map { $0(Row()).condition.node }
        self.filter = filter
        maker = EntryMaker(name: name, isUnique: isUnique, fields: fields, filter: filter)
        var isTold = !Self.shape(fields, isUnique, filter).contains(FieldPath.computedName)
        filter?.forEachTerm { if !$0.isComparison { isTold = false } }
        isToldByShape = isTold
    }

    /// What tells it from others of its name.
    var shape: String { Self.shape(fields, isUnique, filter) }

    private static func shape(
        _ fields: [IndexField<Root>], _ isUnique: Bool, _ filter: ConditionNode<Root>?
    ) -> String {
        var parts = fields.map { field in
            (field.path.isEach ? "each " : "") + field.path.name + ":" + field.shape.name
                + (field.isDescending ? " descending" : "")
        }
        if isUnique { parts.append("unique") }
        if let filter {
            // A description does not tell all values apart: all data of one size has one.
            parts.append("where \(filter)" + (filter.constantsHash.map { " #\($0)" } ?? ""))
        }
        return parts.joined(separator: ", ")
    }
}

/// How the form of one field of an index is laid out.
struct FieldLayout: Sendable {
    let layout: IndexShape.Layout
    let isInverted: Bool

    init(_ layout: IndexShape.Layout, isInverted: Bool) {
        self.layout = layout
        self.isInverted = isInverted
    }
}

/// One field of an index.
struct IndexField<Root>: Sendable {
    let path: FieldPath
    let isDescending: Bool
    let shape: IndexShape
    /// Of the object that stands there, as `EntryMaker` has it.
    let encode: @Sendable (UnsafeRawPointer, inout IndexForm) -> Void
    /// Of an index over elements: the form of each.
    let forms: (@Sendable (UnsafeRawPointer) -> [IndexForm])?
    /// What `encode` writes, or `forms` gives, as the object's stored bytes say it.
    let stored: StoredAccess<Root, [IndexForm]>

    init<Value: IndexRepresentable>(
        _ keyPath: KeyPath<Root, Value> & Sendable, isDescending: Bool = false
    ) {
        let access = FieldAccess(keyPath)
        path = FieldPath(keyPath)
        self.isDescending = isDescending
        shape = Value.indexShape
        let layout = Value.layoutToCheck
        encode = { object, form in
            let start = form.bytes.count
            form.append(
                field: access.value(of: object.assumingMemoryBound(to: Root.self)), layout)
            if isDescending { form.invert(from: start) }
        }
        forms = nil
        stored = StoredAccess(keyPath).map { value in
            var form = IndexForm(value, layout)
            if isDescending { form.invert(from: 0) }
            return [form]
        }
    }

    init<Value: Collection & SendableMetatype>(each keyPath: KeyPath<Root, Value> & Sendable)
    where Value.Element: IndexRepresentable {
        let access = FieldAccess(keyPath)
        path = FieldPath(keyPath, isEach: true)
        isDescending = false
        shape = Value.Element.indexShape
        encode = { _, _ in }
        let layout = Value.Element.layoutToCheck
        forms = { object in
            access.value(of: object.assumingMemoryBound(to: Root.self)).map {
                IndexForm($0, layout)
            }
        }
        stored = StoredAccess(keyPath).map { $0.map { IndexForm($0, layout) } }
    }

    init<Value: Collection & SendableMetatype>(
        eachPresent keyPath: KeyPath<Root, Value?> & Sendable
    )
    where Value.Element: IndexRepresentable {
        let access = FieldAccess(keyPath)
        path = FieldPath(keyPath, isEach: true)
        isDescending = false
        shape = Value.Element.indexShape
        encode = { _, _ in }
        let layout = Value.Element.layoutToCheck
        forms = { object in
            access.value(of: object.assumingMemoryBound(to: Root.self))?.map {
                IndexForm($0, layout)
            } ?? []
        }
        stored = StoredAccess(keyPath).map { $0?.map { IndexForm($0, layout) } ?? [] }
    }
}

/// A field of an index, and which way it goes.
public struct OrderedField<Root>: Sendable {
    let field: IndexField<Root>

    /// The field from its least value up.
    public static func ascending<Value: IndexRepresentable>(
        _ path: KeyPath<Root, Value> & Sendable
    ) -> OrderedField {
        OrderedField(field: IndexField(path))
    }

    /// The field from its greatest value down.
    public static func descending<Value: IndexRepresentable>(
        _ path: KeyPath<Root, Value> & Sendable
    ) -> OrderedField {
        OrderedField(field: IndexField(path, isDescending: true))
    }
}

/// A type that says by what its repository indexes it.
///
/// - A dictionary has the indexes of one type while the workspace is open, the first whose repository is made: all calls
///   of the repository of another `Indexed` type over it, but for those by an identifier, throw `.conflict`.
/// - To drop all indexes leave the conformance and return none: `static var indexes: [Index<Post>] { [] }`. A type
///   that is not `Indexed` drops nothing, as a tool may open a repository by a type that knows less: what it writes takes
///   the indexes out of use until a type that declares them has built them anew.
public protocol Indexed {
    /// The indexes of the type. A repository builds what is new here and drops what is not here any more; with none,
    /// all of them.
    static var indexes: [Index<Self>] { get }
}

extension Index {
    /// An entry for each distinct element of a field.
    public init<Value: Collection & SendableMetatype>(
        _ name: String, each path: KeyPath<Root, Value> & Sendable,
        where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) where Value.Element: IndexRepresentable {
        self.init(
            name: name, isUnique: false, fields: [IndexField(each: path)], filter: filter)
    }
}

extension Index {
    /// An entry for each distinct element of a field that may be `nil`, and then has none.
    public init<Value: Collection & SendableMetatype>(
        _ name: String, each path: KeyPath<Root, Value?> & Sendable,
        where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) where Value.Element: IndexRepresentable {
        self.init(
            name: name, isUnique: false, fields: [IndexField(eachPresent: path)], filter: filter)
    }
}

// A parameter pack takes key paths or ordered fields, but not both in any order: so there is one initializer for each
// way in which up to three fields may be either, and for more of them one for each of the two.

extension Index {
    /// An index of any number of fields, the first the most significant. With `where`, only of the objects for which that
    /// holds.
    ///
    /// ```swift
    /// Index("shelf", .ascending(\.hall), .ascending(\.row), .descending(\.height), .ascending(\.title))
    /// ```
    public init(
        _ name: String, _ first: OrderedField<Root>, _ others: OrderedField<Root>...,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: ([first] + others).map(\.field), filter: filter)
    }

    /// An index of four fields and more, the first the most significant, each from its least value up. With `where`, only
    /// of the objects for which that holds.
    public init<
        A: IndexRepresentable, B: IndexRepresentable, C: IndexRepresentable, D: IndexRepresentable,
        each Other: IndexRepresentable
    >(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: KeyPath<Root, B> & Sendable,
        _ third: KeyPath<Root, C> & Sendable, _ fourth: KeyPath<Root, D> & Sendable,
        _ others: repeat KeyPath<Root, each Other> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        var fields = [
            IndexField(first), IndexField(second), IndexField(third), IndexField(fourth),
        ]
        for other in repeat each others { fields.append(IndexField(other)) }
        self.init(name: name, isUnique: isUnique, fields: fields, filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(name: name, isUnique: isUnique, fields: [IndexField(first)], filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable, B: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: KeyPath<Root, B> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [IndexField(first), IndexField(second)],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: OrderedField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [IndexField(first), second.field],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<B: IndexRepresentable>(
        _ name: String, _ first: OrderedField<Root>, _ second: KeyPath<Root, B> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, IndexField(second)],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable, B: IndexRepresentable, C: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: KeyPath<Root, B> & Sendable,
        _ third: KeyPath<Root, C> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique,
            fields: [IndexField(first), IndexField(second), IndexField(third)], filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable, B: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: KeyPath<Root, B> & Sendable,
        _ third: OrderedField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique,
            fields: [IndexField(first), IndexField(second), third.field], filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable, C: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: OrderedField<Root>,
        _ third: KeyPath<Root, C> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique,
            fields: [IndexField(first), second.field, IndexField(third)], filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: OrderedField<Root>,
        _ third: OrderedField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [IndexField(first), second.field, third.field],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<B: IndexRepresentable, C: IndexRepresentable>(
        _ name: String, _ first: OrderedField<Root>, _ second: KeyPath<Root, B> & Sendable,
        _ third: KeyPath<Root, C> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique,
            fields: [first.field, IndexField(second), IndexField(third)], filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<B: IndexRepresentable>(
        _ name: String, _ first: OrderedField<Root>, _ second: KeyPath<Root, B> & Sendable,
        _ third: OrderedField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, IndexField(second), third.field],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<C: IndexRepresentable>(
        _ name: String, _ first: OrderedField<Root>, _ second: OrderedField<Root>,
        _ third: KeyPath<Root, C> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, second.field, IndexField(third)],
            filter: filter)
    }
}
