import Roost
import RoostFormat

/// One line of `import` and `export`: `{"dictionary": …, "key": …, "value": …}`.
struct RecordLine {
    var dictionary: String
    var key: String
    var value: StoredValue

    /// Why a line is not a record.
    struct Failure: Error { var reason: String }

    init(dictionary: String, key: String, value: StoredValue) {
        self.dictionary = dictionary
        self.key = key
        self.value = value
    }

    /// Reads a line; its members may come in any order, and none may be missing or unknown.
    init(parsing line: UnsafeRawBufferPointer) throws(Failure) {
        let json: JSONValue
        do { json = try JSONParser.parse(line) } catch {
            throw Failure(reason: "\(error.reason) (column \(error.offset + 1))")
        }
        guard case .object(let members) = json else {
            throw Failure(reason: "not a JSON object")
        }
        let fields = try Fields(members)
        guard case .string(let dictionary) = fields.dictionary else {
            throw Failure(reason: "\"dictionary\" is missing or not a string")
        }
        guard case .string(let key) = fields.key else {
            throw Failure(reason: "\"key\" is missing or not a string")
        }
        guard let value = fields.value else { throw Failure(reason: "\"value\" is missing") }
        self.dictionary = dictionary
        self.key = key
        do { self.value = try StoredForm.stored(value) } catch {
            throw Failure(reason: error.reason)
        }
        try check()
    }

    /// What a workspace would refuse, which is wrong input, so that it is named.
    func check() throws(Failure) {
        try Self.check("dictionary", dictionary.utf8.count, atMost: Limits.dictionaryNameSizeBytes)
        try Self.check("key", key.utf8.count, atMost: Limits.keySizeBytes)
        try Self.check("value", value.payload.count, atMost: Limits.valueSizeBytes)
        let begin = [value.kind] + value.payload.prefix(Limits.valueOverheadBytes)
        guard begin.withUnsafeBytes({ ValueHeader($0) }) != nil else {
            throw Failure(reason: "the value's bytes make no sense")
        }
    }

    private static func check(_ name: String, _ count: Int, atMost limit: Int) throws(Failure) {
        guard count > limit else { return }
        throw Failure(
            reason: "\"\(name)\" has \(grouped(count)) bytes; up to \(grouped(limit)) are allowed")
    }

    var record: StoredRecord { StoredRecord(dictionary: dictionary, key: key, value: value) }

    var json: JSONValue {
        .members([
            "dictionary": .string(dictionary), "key": .string(key),
            "value": StoredForm.json(value),
        ])
    }

    /// The members of a line, each at most once and no others.
    private struct Fields {
        var dictionary: JSONValue?
        var key: JSONValue?
        var value: JSONValue?

        init(_ members: [JSONValue.Member]) throws(Failure) {
            for member in members {
                switch member.name {
                case "dictionary": try Self.fill(&dictionary, member)
                case "key": try Self.fill(&key, member)
                case "value": try Self.fill(&value, member)
                default:
                    throw Failure(reason: "\"\(member.name)\" is not dictionary, key or value")
                }
            }
        }

        private static func fill(
            _ field: inout JSONValue?, _ member: JSONValue.Member
        ) throws(Failure) {
            guard field == nil else { throw Failure(reason: "\"\(member.name)\" is there twice") }
            field = member.value
        }
    }
}
