#if Protobuf
    public import RoostCoding
    public import SwiftProtobuf

    /// Protobuf messages as values: a generated type needs one line.
    ///
    /// ```swift
    /// extension Person: @retroactive BinaryCodable {}
    /// try await people.set(person, forKey: "ada")
    /// ```
    ///
    /// A message is stored as its binary form, with map entries in the order of their keys, so that
    /// equal messages have equal bytes. Fields that the reader's schema lacks are kept, as protobuf
    /// does. Required fields of proto2 that are not set are neither written nor asked for.
    ///
    /// `@retroactive` is needed where the generated type is of another module than the extension.
    extension BinaryCodable where Self: SwiftProtobuf.Message {
        /// Encoding fails, with `.encodingFailed`, for a message larger than 2 GiB.
        public func encode(into writer: inout BinaryWriter) {
            var options = BinaryEncodingOptions()
            options.useDeterministicOrdering = true
            do {
                let bytes: [UInt8] = try serializedBytes(partial: true, options: options)
                bytes.withUnsafeBytes { writer.writeRaw($0) }
            } catch {
                writer.refuse()
            }
        }

        /// Reads all bytes that are left of the value.
        ///
        /// - Throws: `RoostError` with `.decodingFailed` when they are no such message, or its
        ///   messages are nested deeper than 100 levels.
        public init(from reader: inout BinaryReader) throws {
            do {
                self = try reader.withBytes(count: reader.remainingCount) {
                    try Self(serializedBytes: Array($0), partial: true)
                }
            } catch {
                throw reader.invalidValue("not a protobuf message: \(error)")
            }
        }
    }
#endif
