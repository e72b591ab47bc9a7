import RoostEngine
import RoostFormat
import RoostIO

/// What an index keeps of one object, or of one of its elements.
///
/// - An entry's key is the form of the fields and after it the key of the object. Of a unique index
///   the key ends after the fields, so that two entries would be one, and the object's key is the
///   value; but where a field is not equal to itself, it is as of any index.
struct IndexEntry: Hashable {
    let form: [UInt8]
    /// Whether no other object may have the form.
    let isSole: Bool

    func key(_ objectKey: [UInt8]) -> [UInt8] { isSole ? form : form + objectKey }
    func keySizeBytes(_ objectKey: [UInt8]) -> Int { form.count + (isSole ? 0 : objectKey.count) }

    func value(_ objectKey: [UInt8]) -> EncodedValue {
        EncodedValue(kind: ValueKind.bytes.rawValue, payload: .bytes(isSole ? objectKey : []))
    }
}

/// Makes an index's entries. A class of few parts, as copying the index itself for each object costs as much as
/// making the entry; and of no type of object, as the runtime looks such a class up at each change.
///
/// - An object is handed on as where it stands. It is one of the index's type: whoever has the type says so by
///   `Index.entries(of:)` and `IndexSet`, which are of that type.
final class EntryMaker: Sendable {
    let name: String
    let forms: FormedEntries
    private let isMet: (@Sendable (UnsafeRawPointer) throws -> Bool)?
    private let encoders: [@Sendable (UnsafeRawPointer, inout IndexForm) -> Void]
    /// Of an index over elements.
    private let elements: (@Sendable (UnsafeRawPointer) -> [IndexForm])?

    init<Root>(
        name: String, isUnique: Bool, fields: [IndexField<Root>], filter: ConditionNode<Root>?
    ) {
        self.name = name
        forms = FormedEntries(
            name: name, isUnique: isUnique, isOfElements: fields[0].forms != nil)
        if let filter {
            isMet = { object in
                try filter.matches(object.assumingMemoryBound(to: Root.self))
            }
        } else {
            isMet = nil
        }
        encoders = fields.map { $0.encode }
        elements = fields[0].forms
    }

    /// The entries of an object, each once.
    ///
    /// - Throws: `.valueTooLarge` where a value that is to be unique is cut off; `.encodingFailed` where a type does not
    ///   append one form of its shape; what a predicate in the index's condition throws.
    func entries(of object: UnsafeRawPointer) throws -> IndexEntries {
        if let isMet, try !isMet(object) { return .none }
        return try entries(ofMet: object)
    }

    /// The entries of an object that the index is of.
    private func entries(ofMet object: UnsafeRawPointer) throws -> IndexEntries {
        if let elements { return try forms.entries(ofElements: elements(object)) }
        var form = FormedEntries.usualForm
        for encode in encoders { encode(object, &form) }
        return try forms.entries(of: form)
    }

    /// The entries that the index has of an object which is there: none where none can be made of it. It was stored before
    /// there was the index, which could not be built then.
    func entries(ofEarlier object: UnsafeRawPointer) throws -> IndexEntries {
        // A predicate that throws of it has ended the building: only who changes or deletes the object mends that.
        do { if let isMet, try !isMet(object) { return .none } } catch { return .none }
        do { return try entries(ofMet: object) } catch let error as RoostError
            where error.code == .valueTooLarge || error.code == .encodingFailed
        {
            return .none
        }
    }
}

/// Makes entries of the forms of an object's fields. Of no type of object, as what the compiler does not know the
/// type of costs more than the entries.
final class FormedEntries: Sendable {
    private let name: String
    private let isUnique: Bool
    let isOfElements: Bool

    init(name: String, isUnique: Bool, isOfElements: Bool) {
        self.name = name
        self.isUnique = isUnique
        self.isOfElements = isOfElements
    }

    /// With room for what most forms take.
    static var usualForm: IndexForm {
        var form = IndexForm()
        form.bytes.reserveCapacity(24)
        return form
    }

    /// The entries of an object whose field has elements of these forms, each once.
    ///
    /// - Throws: as `entries(of:)`, for any of them.
    func entries(ofElements forms: [IndexForm]) throws -> IndexEntries {
        var seen: Set<[UInt8]> = []
        let entries = try forms.compactMap { form in
            try check(form)
            return seen.insert(form.bytes).inserted ? entry(of: form) : nil
        }
        return .several(entries)
    }

    /// The entry of an object whose fields have this form together.
    ///
    /// - Throws: `.valueTooLarge` where a value that is to be unique is cut off; `.encodingFailed` where a type does not
    ///   append one form of its shape.
    func entries(of form: IndexForm) throws -> IndexEntries {
        try check(form)
        return .one(entry(of: form))
    }

    private func entry(of form: IndexForm) -> IndexEntry {
        IndexEntry(form: form.bytes, isSole: isUnique && !form.isUnequal)
    }

    private func check(_ form: IndexForm) throws {
        if form.isMalformed { throw malformed }
        if isUnique, form.isTruncated {
            throw RoostError(
                .valueTooLarge,
                "index \"\(name)\" keeps its values unique, which have at most 1 KiB therefore")
        }
    }

    private var malformed: RoostError {
        RoostError(
            .encodingFailed,
            "index \"\(name)\" has a field whose type does not append just one form of its `indexShape`"
        )
    }
}

extension Index {
    /// The entries of an object, each once; as `EntryMaker`.
    func entries(of object: UnsafePointer<Root>) throws -> [IndexEntry] {
        try maker.entries(of: object).all
    }

    /// The parts of an entry: where the fields end, and the first of them that is cut off.
    func parse(_ key: UnsafeRawBufferPointer) -> (formEnd: Int, truncatedField: Int?)? {
        var place = 0
        var truncated: Int?
        for index in layouts.indices {
            guard
                let (end, isCut) = layouts[index].layout.end(
                    in: key, from: place, isInverted: layouts[index].isInverted)
            else { return nil }
            place = end
            if isCut, truncated == nil { truncated = index }
        }
        return (place, truncated)
    }
}

/// What `.notUnique` is caused by.
public struct NotUnique: Error, Sendable {
    /// The name of the index.
    public let index: String
    /// The key of the object that has the value: ``Repository/id(ofKey:)`` makes its identifier of it.
    public let otherKey: String

    static func error(_ index: String, _ key: String, _ other: String) -> RoostError {
        RoostError(
            .notUnique,
            "index \"\(index)\" keeps its values unique: the object with the key \"\(other)\" has the one that the object with the key \"\(key)\" would have; a repository's id(ofKey:) makes identifiers of keys",
            cause: NotUnique(index: index, otherKey: other))
    }
}
