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
///   index, which is built anew. A closure in `where` has no shape, nor has what a property computes: give
///   the index another name when you change it, or take another computed property of the same type.
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
    let maker: EntryMaker<Root>

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
    }

    /// What tells it from others of its name.
    var shape: String {
        var parts = fields.map { field in
            (field.path.isEach ? "each " : "") + field.path.name + ":" + field.shape.name
                + (field.isDescending ? " descending" : "")
        }
        if isUnique { parts.append("unique") }
        if let filter { parts.append("where \(filter)") }
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
    let encode: @Sendable (UnsafePointer<Root>, inout IndexForm) -> Void
    /// Of an index over elements: the form of each.
    let forms: (@Sendable (UnsafePointer<Root>) -> [IndexForm])?
    /// What `encode` writes, or `forms` gives, as the object's stored bytes say it.
    let stored: StoredAccess<Root, [IndexForm]>

    init<Value: IndexRepresentable>(
        _ keyPath: KeyPath<Root, Value> & Sendable, isDescending: Bool = false
    ) {
        let access = FieldAccess(keyPath)
        path = FieldPath(keyPath)
        self.isDescending = isDescending
        shape = Value.indexShape
        encode = { object, form in
            let start = form.bytes.count
            access.value(of: object).encode(into: &form)
            if isDescending { form.invert(from: start) }
        }
        forms = nil
        stored = StoredAccess(keyPath).map { value in
            var form = IndexForm(value)
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
        forms = Self.forms(access)
        stored = StoredAccess(keyPath).map { $0.map { IndexForm($0) } }
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
        forms = { access.value(of: $0)?.map { IndexForm($0) } ?? [] }
        stored = StoredAccess(keyPath).map { $0?.map { IndexForm($0) } ?? [] }
    }

    private static func forms<Value: Collection & SendableMetatype>(
        _ access: FieldAccess<Root, Value>
    ) -> @Sendable (UnsafePointer<Root>) -> [IndexForm] where Value.Element: IndexRepresentable {
        { access.value(of: $0).map { IndexForm($0) } }
    }
}

/// A field whose larger values come first.
public struct DescendingField<Root>: Sendable {
    let field: IndexField<Root>

    /// The field from its greatest value down.
    public static func descending<Value: IndexRepresentable>(
        _ path: KeyPath<Root, Value> & Sendable
    ) -> DescendingField {
        DescendingField(field: IndexField(path, isDescending: true))
    }
}

/// A type that says by what its repository indexes it.
public protocol Indexed {
    /// The indexes of the type. A repository builds what is new here and drops what is not here any more.
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

// One initializer for each way in which up to three fields may go up and down: a parameter pack takes
// key paths or descending fields, but not both in any order.

extension Index {
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
    public init(
        _ name: String, _ first: DescendingField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(name: name, isUnique: isUnique, fields: [first.field], filter: filter)
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
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: DescendingField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [IndexField(first), second.field],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<B: IndexRepresentable>(
        _ name: String, _ first: DescendingField<Root>, _ second: KeyPath<Root, B> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, IndexField(second)],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init(
        _ name: String, _ first: DescendingField<Root>, _ second: DescendingField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, second.field], filter: filter)
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
        _ third: DescendingField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique,
            fields: [IndexField(first), IndexField(second), third.field], filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<A: IndexRepresentable, C: IndexRepresentable>(
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: DescendingField<Root>,
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
        _ name: String, _ first: KeyPath<Root, A> & Sendable, _ second: DescendingField<Root>,
        _ third: DescendingField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [IndexField(first), second.field, third.field],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<B: IndexRepresentable, C: IndexRepresentable>(
        _ name: String, _ first: DescendingField<Root>, _ second: KeyPath<Root, B> & Sendable,
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
        _ name: String, _ first: DescendingField<Root>, _ second: KeyPath<Root, B> & Sendable,
        _ third: DescendingField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, IndexField(second), third.field],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init<C: IndexRepresentable>(
        _ name: String, _ first: DescendingField<Root>, _ second: DescendingField<Root>,
        _ third: KeyPath<Root, C> & Sendable,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, second.field, IndexField(third)],
            filter: filter)
    }

    /// An index of these fields, the first the most significant, each from its least value up unless it is
    /// `.descending`. With `where`, only of the objects for which that holds.
    public init(
        _ name: String, _ first: DescendingField<Root>, _ second: DescendingField<Root>,
        _ third: DescendingField<Root>,
        isUnique: Bool = false, where filter: ((Row<Root>) -> any ConditionConvertible<Root>)? = nil
    ) {
        self.init(
            name: name, isUnique: isUnique, fields: [first.field, second.field, third.field],
            filter: filter)
    }
}
