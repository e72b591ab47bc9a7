import RoostIO

/// Writes and reads `Codable` values in a compact binary form.
///
/// Property names are written once in a message, not once in each value; integers, short
/// strings and most floating-point numbers take as few bytes as they need. Equal values give
/// equal bytes, sets and dictionaries included. Properties are found by name: they may be
/// added, removed and put in another order between writing and reading. The form is described
/// in docs/FORMAT-values.md.
public struct RoostCoder: Sendable {
    /// What the values' own `encode(to:)` and `init(from:)` find in `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) { self.userInfo = userInfo }

    /// The bytes of `value`.
    ///
    /// - Throws: `RoostError` with `.encodingFailed` when the value's own `encode(to:)` fails
    ///   (the cause tells why), or it is nested deeper than 256 levels.
    /// - Complexity: O(size), except for sets, and dictionaries whose keys are neither strings
    ///   nor integers: their elements or keys are encoded once more for each level of nesting.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        var sink = EncodingPool.take()
        if !userInfo.isEmpty { sink.session.userInfo = userInfo }
        do {
            try sink.encodeRoot(value)
            let bytes = try sink.message()
            EncodingPool.give(&sink)
            return bytes
        } catch let error as RoostError {
            throw error
        } catch {
            throw RoostError(.encodingFailed, "\(Value.self) could not be encoded", cause: error)
        }
    }

    /// Reads a value from all of `bytes`.
    ///
    /// - Throws: `RoostError` with `.decodingFailed` when the bytes are not such a value. The
    ///   cause is the `DecodingError`, where there is one, and tells the property.
    /// - Complexity: O(size) when properties are read in the order in which they were written.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        var message = DecodingPool.take()
        defer { DecodingPool.give(&message) }
        do {
            return try message.decode(type, from: bytes, userInfo: userInfo)
        } catch let error as RoostError {
            throw error
        } catch {
            let message = "\(Value.self) could not be decoded: \(summary(of: error))"
            throw RoostError(.decodingFailed, message, cause: error)
        }
    }

    /// As ``decode(_:from:)``, for an array.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }
}
