import RoostCoding
import RoostFormat
import RoostIO

/// A condition as stored bytes can answer it.
///
/// - It says what the object would say, or nothing: where a term needs the whole object, where the type does
///   not say where its fields are, where the bytes are of another form or of an earlier version, and
///   where reading fails, which the whole object's decoding then tells.
/// - For one user at a time: it remembers what it has answered (``RememberedAnswers``).
struct StoredCondition {
    private let owner: Any.Type
    private let binary: StoredTest<BinaryReader>
    private let coded: StoredTest<CodedFields>

    /// `nil` where no stored bytes could say anything.
    init?<Item: Sendable>(_ condition: ConditionNode<Item>) {
        let fields = declaredFields(of: Item.self)
        owner = Item.self
        binary = StoredTest(condition) { term in
            Self.reader(of: term, among: fields).flatMap { reader in
                reader.binary.map { StoredTerm($0, Self.answers(term, reader)) }
            }
        }
        coded = StoredTest(condition) { term in
            Self.reader(of: term, among: fields).flatMap { reader in
                reader.coded.map { StoredTerm($0, Self.answers(term, reader)) }
            }
        }
        if binary.isUnknown, coded.isUnknown { return nil }
    }

    private static func reader<Item>(
        of term: ConditionTerm<Item>, among fields: [StoredField<Item>]
    ) -> StoredReader<Bool>? {
        term.stored?.reader(among: fields)
    }

    private static func answers<Item>(
        _ term: ConditionTerm<Item>, _ reader: StoredReader<Bool>
    ) -> RememberedAnswers? {
        term.isComparison ? RememberedAnswers(reader) : nil
    }

    /// Whether the object matches; `nil` where that takes the object.
    func answer(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        if case .always(let answer) = binary { return answer }
        guard let header = ValueHeader(bytes), header.version == 1 else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[header.sizeBytes...])
        do {
            switch ValueKind(rawValue: header.kind) {
            case .binary where !binary.isUnknown:
                if let known = binary.remembered({ $0.answer(toBinary: payload) }) { return known }
                return try BinaryReader.withFields(of: owner, in: payload) {
                    try binary.answer(&$0) { $0.note($1, ofBinary: payload) }
                }
            case .roost where !coded.isUnknown:
                if let known = coded.remembered({ $0.answer(toCoded: payload) }) { return known }
                return try RoostCoder().withFields(of: owner, in: payload) {
                    try coded.answer(&$0) { $0.note($1, ofCoded: payload) }
                }
            default: return nil
            }
        } catch {
            // Decoding the object says what is wrong with it, and with which.
            return nil
        }
    }
}

/// The fields of which the type says where they are.
func declaredFields<Item: Sendable>(of type: Item.Type) -> [StoredField<Item>] {
    func fields<Type: StoredFields>(_ type: Type.Type) -> [StoredField<Item>] {
        // `Type` is `Item`, as it was found by a cast.
        type.storedFields as Any as? [StoredField<Item>] ?? []
    }
    return (type as? any StoredFields.Type).map { fields($0) } ?? []
}

/// A term as one form of bytes answers it.
private struct StoredTerm<Source: ~Copyable> {
    let test: @Sendable (inout Source) throws -> Bool
    /// `nil` where each object has to be asked.
    let answers: RememberedAnswers?

    init(_ test: @escaping @Sendable (inout Source) throws -> Bool, _ answers: RememberedAnswers?) {
        self.test = test
        self.answers = answers
    }
}

/// The terms that one form of bytes can answer.
private indirect enum StoredTest<Source: ~Copyable> {
    case all([StoredTest])
    case any([StoredTest])
    case not(StoredTest)
    case term(StoredTerm<Source>)
    case always(Bool)
    case unknown

    init<Root>(
        _ node: ConditionNode<Root>, _ reader: (ConditionTerm<Root>) -> StoredTerm<Source>?
    ) {
        switch node {
        case .always(let answer): self = .always(answer)
        case .term(let term): self = reader(term).map { .term($0) } ?? .unknown
        case .not(let term): self = reader(term).map { .not(.term($0)) } ?? .unknown
        case .all(let nodes):
            let tests = nodes.map { StoredTest($0, reader) }
            self = tests.allSatisfy { $0.isUnknown } ? .unknown : .all(tests)
        case .any(let nodes):
            let tests = nodes.map { StoredTest($0, reader) }
            // One that is unknown may hold, whatever the others say; but one that holds is enough.
            self = tests.allSatisfy { $0.isUnknown } ? .unknown : .any(tests)
        }
    }

    var isUnknown: Bool { if case .unknown = self { true } else { false } }

    /// The answer, where what is remembered says it.
    func remembered(_ known: (RememberedAnswers) -> Bool?) -> Bool? {
        answer { term in term.answers.flatMap(known) }
    }

    /// The answer, and each term's to be remembered.
    func answer(
        _ source: inout Source, _ note: (RememberedAnswers, Bool) -> Void
    ) throws -> Bool? {
        try answer { term in
            let answer = try term.test(&source)
            if let answers = term.answers { note(answers, answer) }
            return answer
        }
    }

    /// What the answers of the terms make; `nil` where one that is not known may change it.
    private func answer(
        _ term: (StoredTerm<Source>) throws -> Bool?
    ) rethrows -> Bool? {
        switch self {
        case .always(let answer): return answer
        case .unknown: return nil
        case .term(let one): return try term(one)
        case .not(let test): return try test.answer(term).map { !$0 }
        case .all(let tests):
            var isKnown = true
            for test in tests {
                switch try test.answer(term) {
                case false?: return false
                case nil: isKnown = false
                default: break
                }
            }
            return isKnown ? true : nil
        case .any(let tests):
            var isKnown = true
            for test in tests {
                switch try test.answer(term) {
                case true?: return true
                case nil: isKnown = false
                default: break
                }
            }
            return isKnown ? false : nil
        }
    }
}
