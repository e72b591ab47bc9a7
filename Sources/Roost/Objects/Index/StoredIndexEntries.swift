import RoostCoding
import RoostFormat
import RoostIO

/// The entries of an object in all indexes of a set, made of its stored bytes alone: a type that says where its
/// fields are is not decoded for them. docs/decisions/0218.
struct StoredIndexEntries: Sendable {
    private typealias Reads = @Sendable (UnsafeRawBufferPointer) throws -> [IndexEntries]

    /// In each index; `nil` where the form does not say where its fields are.
    private let binary: Reads?
    private let coded: Reads?

    /// `nil` where no stored bytes could give them, as where an index is of some of the objects only: whether
    /// it is of this one is asked of the object.
    init?<Item: Sendable>(_ active: [IndexSet<Item>.Active]) {
        guard !active.isEmpty, active.allSatisfy({ $0.index.filter == nil }) else { return nil }
        let declared = declaredFields(of: Item.self)
        guard !declared.isEmpty else { return nil }
        var binary: [StoredEntryReader<BinaryReader>] = []
        var coded: [StoredEntryReader<CodedFields>] = []
        for active in active {
            let readers = active.index.fields.compactMap { $0.stored.reader(among: declared) }
            guard readers.count == active.index.fields.count else { return nil }
            let forms = active.index.maker.forms
            StoredEntryReader(forms, readers.map { $0.binary }).map { binary.append($0) }
            StoredEntryReader(forms, readers.map { $0.coded }).map { coded.append($0) }
        }
        self.binary = binary.count == active.count ? Self.reads(Item.self, binary) : nil
        self.coded = coded.count == active.count ? Self.reads(Item.self, coded) : nil
        if self.binary == nil, self.coded == nil { return nil }
    }

    private static func reads<Item: Sendable>(
        _ type: Item.Type, _ readers: [StoredEntryReader<BinaryReader>]
    ) -> Reads {
        { payload in
            try BinaryReader.withFields(of: type, in: payload) {
                source throws -> [IndexEntries] in
                try readers.map { try $0.entries(&source) }
            }
        }
    }

    private static func reads<Item: Sendable>(
        _ type: Item.Type, _ readers: [StoredEntryReader<CodedFields>]
    ) -> Reads {
        { payload in
            try RoostCoder().withFields(of: type, in: payload) {
                source throws -> [IndexEntries] in
                try readers.map { try $0.entries(&source) }
            }
        }
    }

    /// The entries in each index; `nil` where that takes the object, as where a field does not decode: the
    /// object's decoding says what is wrong.
    ///
    /// - Throws: as `EntryMaker.entries(of:)`.
    func entries(of bytes: UnsafeRawBufferPointer) throws -> [IndexEntries]? {
        guard let header = ValueHeader(bytes), header.version == 1 else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[header.sizeBytes...])
        do {
            switch ValueKind(rawValue: header.kind) {
            case .binary: return try binary?(payload)
            case .roost: return try coded?(payload)
            default: return nil
            }
        } catch let error as RoostError where error.code == .valueTooLarge {
            throw error
        } catch {
            return nil
        }
    }
}

/// The entries of one index, read from the fields of one form of bytes.
private struct StoredEntryReader<Source: ~Copyable>: Sendable {
    private typealias Reads = @Sendable (inout Source) throws -> [IndexForm]

    private let forms: FormedEntries
    private let first: Reads
    private let others: [Reads]

    /// `nil` where one of the fields cannot be read.
    init?(
        _ forms: FormedEntries, _ fields: [(@Sendable (inout Source) throws -> [IndexForm])?]
    ) {
        let known = fields.compactMap { $0 }
        guard known.count == fields.count, let first = known.first else { return nil }
        self.forms = forms
        self.first = first
        others = Array(known.dropFirst())
    }

    func entries(_ source: inout Source) throws -> IndexEntries {
        let found = try first(&source)
        if forms.isOfElements { return try forms.entries(ofElements: found) }
        guard !others.isEmpty else { return try forms.entries(of: found[0]) }
        var form = FormedEntries.usualForm
        form.append(found[0])
        for read in others { form.append(try read(&source)[0]) }
        return try forms.entries(of: form)
    }
}
