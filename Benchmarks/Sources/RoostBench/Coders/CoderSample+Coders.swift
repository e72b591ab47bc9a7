import Foundation
import RoostCoding

#if Coders
    import SwiftProtobuf
#endif

/// The coders that are compared, on the same values.
extension CoderSample {
    static func all() throws -> [CoderSample] {
        let notes = (0..<1_000).map(Note.init)
        let (note, profile) = (Note(7), Profile())
        return try forNote(note) + forNotes(notes) + forProfile(profile)
            + withDependencies(note, notes, profile)
    }

    private static func forNote(_ note: Note) throws -> [CoderSample] {
        let workload = "six-field"
        return try forCodable(workload, note) + [
            forBinary("BinaryCodable-hand", workload, HandNote(note)),
            CoderSample(
                "bytes-by-hand", workload, note,
                encode: { note in
                    var writer = ByHand(capacity: 128)
                    writer.write(note)
                    return writer.bytes
                },
                decode: {
                    var reader = ByHand(bytes: $0)
                    return try reader.readNote()
                }),
        ]
    }

    private static func forNotes(_ notes: [Note]) throws -> [CoderSample] {
        let workload = "array-1000"
        return try forCodable(workload, notes) + [
            forBinary("BinaryCodable-hand", workload, notes.map(HandNote.init)),
            CoderSample(
                "bytes-by-hand", workload, notes,
                encode: { notes in
                    var writer = ByHand(capacity: 128 * notes.count)
                    for note in notes { writer.write(note) }
                    return writer.bytes
                },
                decode: {
                    var reader = ByHand(bytes: $0)
                    return try (0..<1_000).map { _ in try reader.readNote() }
                }),
        ]
    }

    private static func forProfile(_ profile: Profile) throws -> [CoderSample] {
        let workload = "wide-30"
        return try forCodable(workload, profile) + [
            forBinary("BinaryCodable-hand", workload, HandProfile(profile))
        ]
    }

    static func forCodable<Value: Codable & Equatable>(
        _ workload: String, _ value: Value
    ) throws -> [CoderSample] {
        let roost = RoostCoder()
        let (jsonEncoder, jsonDecoder) = (JSONEncoder(), JSONDecoder())
        let (listEncoder, listDecoder) = (PropertyListEncoder(), PropertyListDecoder())
        listEncoder.outputFormat = .binary
        return [
            try CoderSample(
                "JSON", workload, value, encode: jsonEncoder.encode,
                decode: { try jsonDecoder.decode(Value.self, from: $0) }),
            try CoderSample(
                "RoostCoder", workload, value, encode: roost.encode,
                decode: { try roost.decode(Value.self, from: $0) }),
            try CoderSample(
                "binary-plist", workload, value, encode: listEncoder.encode,
                decode: { try listDecoder.decode(Value.self, from: $0) }),
        ]
    }

    private static func forBinary<Value: BinaryCodable & Equatable>(
        _ coder: String, _ workload: String, _ value: Value
    ) throws -> CoderSample {
        try CoderSample(
            coder, workload, value, encode: { try BinaryWriter.encode($0) },
            decode: { try BinaryReader.decode(Value.self, from: $0) })
    }
}

/// What needs the trait `Coders`, which is on unless it is switched off.
extension CoderSample {
    #if Coders
        private static func withDependencies(
            _ note: Note, _ notes: [Note], _ profile: Profile
        ) throws -> [CoderSample] {
            [
                try forBinary("BinaryCodable-macro", "six-field", MacroNote(note)),
                try forProtobuf("six-field", ProtoNote(note)),
                try forBinary("BinaryCodable-macro", "array-1000", notes.map(MacroNote.init)),
                try forProtobuf(
                    "array-1000", ProtoNotes.with { $0.notes = notes.map(ProtoNote.init) }),
                try forBinary("BinaryCodable-macro", "wide-30", MacroProfile(profile)),
                try forProtobuf("wide-30", ProtoProfile(profile)),
            ]
        }

        private static func forProtobuf<Value: SwiftProtobuf.Message & Equatable>(
            _ workload: String, _ value: Value
        ) throws -> CoderSample {
            try CoderSample(
                "swift-protobuf", workload, value,
                encode: { message -> [UInt8] in try message.serializedBytes() },
                decode: { try Value(serializedBytes: $0) })
        }
    #else
        private static func withDependencies(
            _ note: Note, _ notes: [Note], _ profile: Profile
        ) -> [CoderSample] { [] }
    #endif
}
