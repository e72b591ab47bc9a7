import Roost
import RoostFormat

/// One line of `import` and `export`: `{"dictionary": …, "key": …, "value": …}`, with `"expires": "2026-11-20T10:00:00.000Z"`
/// where the value has a deadline, and `"version": 2` where its type was at another than 1.
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
        if fields.expires != nil || fields.version != nil {
            self.value = try Self.marked(self.value, fields.expires, fields.version)
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

    private static func marked(
        _ value: StoredValue, _ expires: JSONValue?, _ version: JSONValue?
    ) throws(Failure) -> StoredValue {
        guard value.kind & ValueHeader.flags == 0 else {
            throw Failure(reason: "a \"$raw\" value says itself when it expires, and its version")
        }
        var deadline: UInt64?
        if let expires {
            guard case .string(let text) = expires, let found = MomentText.milliseconds(text) else {
                throw Failure(reason: "\"expires\" is not a moment as 2026-11-20T10:00:00.000Z")
            }
            deadline = found
        }
        var number: UInt32 = 1
        if let version {
            guard case .number(let text) = version, let found = UInt32(text), found > 0 else {
                throw Failure(reason: "\"version\" is not a number from 1 on")
            }
            number = found
        }
        return StoredValue(value, deadlineMilliseconds: deadline, version: number)
    }

    /// Whether nobody would be shown the value.
    func isExpired(at moment: Deadline) -> Bool {
        guard value.kind & ValueHeader.flags != 0 else { return false }
        let begin = [value.kind] + value.payload.prefix(Limits.valueOverheadBytes)
        return begin.withUnsafeBytes { ValueHeader($0) }.map { $0.deadline <= moment } ?? false
    }

    var record: StoredRecord { StoredRecord(dictionary: dictionary, key: key, value: value) }

    var json: JSONValue {
        var members = [
            JSONValue.Member(name: "dictionary", value: .string(dictionary)),
            JSONValue.Member(name: "key", value: .string(key)),
        ]
        func add(_ name: String, _ value: JSONValue) {
            members.append(.init(name: name, value: value))
        }
        guard value.kind & ValueHeader.flags != 0, let (plain, expires, version) = shown() else {
            add("value", StoredForm.json(value))
            return .object(members)
        }
        add("value", StoredForm.json(plain))
        if let expires { add("expires", .string(expires)) }
        if version != 1 { add("version", .integer(version)) }
        return .object(members)
    }

    /// A value with a deadline or a version, and these; `nil` where it would not be read back as the same bytes.
    private func shown() -> (plain: StoredValue, expires: String?, version: UInt32)? {
        guard let (plain, deadline, version) = value.plain else { return nil }
        let expires = deadline.flatMap { MomentText.text(milliseconds: $0) }
        let same = StoredValue(
            plain, deadlineMilliseconds: deadline, version: UInt32(clamping: version))
        guard (expires == nil) == (deadline == nil), plain.kind & ValueHeader.flags == 0,
            same == value
        else { return nil }
        return (plain, expires, UInt32(clamping: version))
    }

    /// The members of a line, each at most once and no others.
    private struct Fields {
        var dictionary: JSONValue?
        var key: JSONValue?
        var value: JSONValue?
        var expires: JSONValue?
        var version: JSONValue?

        init(_ members: [JSONValue.Member]) throws(Failure) {
            for member in members {
                switch member.name {
                case "dictionary": try Self.fill(&dictionary, member)
                case "key": try Self.fill(&key, member)
                case "value": try Self.fill(&value, member)
                case "expires": try Self.fill(&expires, member)
                case "version": try Self.fill(&version, member)
                default:
                    throw Failure(
                        reason:
                            "\"\(member.name)\" is not dictionary, key, value, expires or version")
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
