import RoostCoding
import RoostIO
import Testing

func roundTrip<Value: BinaryCodable & Equatable>(
    _ value: Value, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let bytes = try BinaryWriter.encode(value)
    let decoded = try BinaryReader.decode(Value.self, from: bytes)
    #expect(decoded == value, comment, sourceLocation: sourceLocation)
    let again = try BinaryWriter.encode(decoded)
    #expect(again == bytes, comment, sourceLocation: sourceLocation)
}

/// Expects that decoding fails with `.decodingFailed`, and gives the message.
@discardableResult
func expectFailure<Value: BinaryCodable>(
    _ type: Value.Type, _ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
) -> String {
    do {
        let value = try BinaryReader.decode(type, from: bytes)
        Issue.record("decoded \(value)", sourceLocation: sourceLocation)
    } catch let error as RoostError {
        #expect(error.code == .decodingFailed, sourceLocation: sourceLocation)
        return error.message
    } catch {
        Issue.record("threw \(error)", sourceLocation: sourceLocation)
    }
    return ""
}

/// Bytes written in hexadecimal, with spaces where one likes.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
