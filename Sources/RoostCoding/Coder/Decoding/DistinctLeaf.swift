import Foundation

/// A value of Foundation with a form of its own that a decoder would also give as something plainer: a UUID
/// as text, bytes as an array of numbers, a date as a number. For tools, which ask values what they are.
package enum DistinctLeaf: Sendable {
    case uuid(UUID)
    case data(Data)
    case date(Date)

    /// `nil` where the value that `decoder` stands at is none of these, or was written by another coder.
    package init?(from decoder: any Decoder) throws {
        guard let value = (decoder as? ValueDecoder)?.place.value else { return nil }
        if let uuid = try value.uuid() {
            self = .uuid(uuid)
        } else if let bytes = try value.bytes(CoderTag.bytes) {
            self = .data(Data(bytes))
        } else if let date = try value.date() {
            self = .date(date)
        } else {
            return nil
        }
    }
}
