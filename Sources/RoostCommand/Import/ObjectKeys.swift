import ArgumentParser
import Foundation
import Roost
import RoostFormat

/// How the objects of a file become records.
struct ObjectKeys {
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        /// Text as it is; whole numbers as the key of an integer identifier.
        case automatic
        case string
        case int
        case uuid
    }

    /// The member that is the key.
    var field: String
    var kind: Kind

    /// The key of an object, as a repository with identifiers of that type has it, and what its member is then:
    /// a program whose identifiers are numbers reads numbers, whatever the file has.
    private func key(
        of members: [JSONValue.Member], place: String
    ) throws -> (key: String, stored: JSONValue) {
        let found = members.filter { $0.name == field }
        guard let member = found.first else {
            throw Failure(
                .usage, "\(place): there is no \"\(field)\", which is to be the key: see --id")
        }
        guard found.count == 1 else {
            throw Failure(.usage, "\(place): \"\(field)\" is there twice")
        }
        switch (kind, member.value) {
        case (.automatic, .string(let text)), (.string, .string(let text)),
            (.string, .number(let text)):
            return (text, .string(text))
        case (.automatic, .number(let text)), (.int, .number(let text)), (.int, .string(let text)):
            if let number = Int(text) { return (number.key, .integer(number)) }
        case (.uuid, .string(let text)):
            if let uuid = UUID(uuidString: text) { return (uuid.key, member.value) }
        default: break
        }
        throw Failure(
            .usage,
            "\(place): \"\(field)\" is \(member.value.text.prefix(60)), which is no key\(kind == .automatic ? "" : " of kind \(kind.rawValue)")"
        )
    }

    /// The record of an object; its value is read as any `Codable` type that reads it from JSON.
    func record(of json: JSONValue, place: String) throws -> ForeignRecord {
        guard case .object(var members) = json else {
            throw Failure(.usage, "\(place): not a JSON object")
        }
        let (key, stored) = try key(of: members, place: place)
        for index in members.indices where members[index].name == field {
            members[index].value = stored
        }
        do {
            let value = try StoredForm.codableValue(.object(members))
            var record = ForeignRecord(key: key, value: .json(value), place: place)
            if kind == .automatic {
                if case .string = stored {
                    record.identifier = .text
                } else {
                    record.identifier = .number
                }
            }
            return record
        } catch { throw Failure(.usage, "\(place): \(error.reason)") }
    }
}
