import Roost
import RoostIO

/// What is sent of an object, and what was decided about it before.
///
/// It may be found by a later version of the app, whose type does not decode the objects that an earlier one has stored. All else
/// is read then: a device whose app was updated in the middle of an exchange would never exchange again.
struct SyncedAttempt<Item: Codable & Sendable>: Sendable {
    /// Of what one commit sends alone: the device's record there has it once it was made.
    var name: String
    var key: String
    /// Of the change that is sent.
    var number: Int
    var isConflict: Bool
    /// Whether what is there in the end is what this device had.
    var isMine: Bool
    var mine: Item?
    var theirs: Item?
    var result: Item?
    /// Objects that are there and do not decode, by their fields' names; the field is `nil` then.
    private var unreadable: [String] = []

    init(
        name: String, key: String, number: Int, isConflict: Bool, isMine: Bool, mine: Item?,
        theirs: Item?, result: Item?
    ) {
        self.name = name
        self.key = key
        self.number = number
        self.isConflict = isConflict
        self.isMine = isMine
        self.mine = mine
        self.theirs = theirs
        self.result = result
    }

    static func newName() -> String { String(UInt128.random(in: 0 ... .max), radix: 36) }

    var isResultReadable: Bool { !unreadable.contains(Field.result.rawValue) }

    /// Whether the object is there once the attempt was made, and was not removed.
    var hasResult: Bool { result != nil || !isResultReadable }

    /// Why an object is missing, where it is.
    var problem: RoostError? {
        guard !unreadable.isEmpty else { return nil }
        return RoostError(
            .decodingFailed,
            "of the conflict about \"\(key)\", \(unreadable.joined(separator: ", ")) cannot be told: "
                + "an earlier version stored it in a form that does not decode as \(Item.self)")
    }
}

extension SyncedAttempt: Codable {
    private enum Field: String, CodingKey {
        case name, key, number, isConflict, isMine, mine, theirs, result, unreadable
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        name = try fields.decode(String.self, forKey: .name)
        key = try fields.decode(String.self, forKey: .key)
        number = try fields.decode(Int.self, forKey: .number)
        isConflict = try fields.decode(Bool.self, forKey: .isConflict)
        isMine = try fields.decode(Bool.self, forKey: .isMine)
        var unreadable = try fields.decodeIfPresent([String].self, forKey: .unreadable) ?? []
        func object(_ field: Field) -> Item? {
            do { return try fields.decodeIfPresent(Item.self, forKey: field) } catch {
                unreadable.append(field.rawValue)
                return nil
            }
        }
        mine = object(.mine)
        theirs = object(.theirs)
        result = object(.result)
        self.unreadable = unreadable
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(name, forKey: .name)
        try fields.encode(key, forKey: .key)
        try fields.encode(number, forKey: .number)
        try fields.encode(isConflict, forKey: .isConflict)
        try fields.encode(isMine, forKey: .isMine)
        try fields.encodeIfPresent(mine, forKey: .mine)
        try fields.encodeIfPresent(theirs, forKey: .theirs)
        try fields.encodeIfPresent(result, forKey: .result)
        if !unreadable.isEmpty { try fields.encode(unreadable, forKey: .unreadable) }
    }
}
