import Roost
import RoostFormat
import RoostForms

/// A value on one line.
struct ValuePreview {
    /// The type as a program would write it.
    let type: String
    let text: String
    let sizeBytes: Int
    let deadlineMilliseconds: UInt64?
    /// Of the value's type, where it has migrations; 1 where it says nothing.
    let typeVersion: Int

    /// Longer values are not decoded for a list.
    static let decodedSizeLimitBytes = 64 << 10
    private static let characterLimit = 160

    init(_ stored: StoredValue, sizeBytes: Int, isCut: Bool) {
        self.sizeBytes = sizeBytes
        let plain = stored.plain
        deadlineMilliseconds = plain?.deadlineMilliseconds
        typeVersion = plain?.version ?? 1
        type = Self.typeName(plain?.value ?? stored)
        guard !isCut else {
            text = ""
            return
        }
        let whole = ReadableForm.text(stored)
        text =
            whole.count <= Self.characterLimit
            ? whole : String(whole.prefix(Self.characterLimit)) + "…"
    }

    static func typeName(_ plain: StoredValue) -> String {
        switch ValueKind(rawValue: plain.kind) {
        case .roost: "Codable"
        case .json: "Codable (JSON)"
        case .propertyList: "Codable (plist)"
        case .binary: "BinaryCodable"
        case .some(let kind): kind.typeName
        case nil: "kind \(plain.kind)"
        }
    }

    var members: [JSONValue.Member] {
        [
            .init(name: "type", value: .string(type)),
            .init(name: "preview", value: .string(text)),
            .init(name: "sizeBytes", value: .integer(sizeBytes)),
            .init(
                name: "deadline",
                value: deadlineMilliseconds.map { .integer($0) } ?? .null),
            .init(name: "typeVersion", value: .integer(typeVersion)),
        ]
    }
}
