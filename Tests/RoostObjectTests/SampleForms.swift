import Foundation
import Roost

// The three ways in which an object's bytes are looked at: as a whole; by the keys of a `Codable` type;
// by the numbers of a `BinaryCodable` one.

protocol SampleForm: Sendable, SendableMetatype {}
enum WholeForm: SampleForm {}
enum KeyedForm: SampleForm {}
enum NumberedForm: SampleForm {}

extension Sample: StoredFields {
    static var storedFields: [StoredField<Sample>] {
        if Form.self == NumberedForm.self { return numberedFields }
        return Form.self == KeyedForm.self ? keyedFields : []
    }

    /// Without `isDone`.
    private static var numberedFields: [StoredField<Sample>] {
        [
            StoredField(\.text) { try $0.field(2) }, StoredField(\.note) { try $0.field(3) },
            StoredField(\.number) { try $0.field(4) }, StoredField(\.score) { try $0.field(5) },
            StoredField(\.ratio) { try $0.field(6) }, StoredField(\.color) { try $0.field(7) },
            StoredField(\.tags) { try $0.field(8, default: []) },
            StoredField(\.owner.name) { try $0.field(10) },
            StoredField(\.date) { try $0.field(15) },
            StoredField(\.quota) { try $0.field(16) }, StoredField(\.size) { try $0.field(17) },
        ]
    }
}

extension Sample: BinaryCodable where Form == NumberedForm {
    func encode(into writer: inout BinaryWriter) {
        writer.field(1, id)
        writer.field(2, text)
        writer.field(3, note)
        writer.field(4, number)
        writer.field(5, score)
        writer.field(6, ratio)
        writer.field(7, color)
        // As an older version that had none.
        if !tags.isEmpty { writer.field(8, tags) }
        writer.field(9, isDone)
        writer.field(10, owner.name)
        writer.field(11, owner.city)
        writer.field(12, maybe?.name)
        writer.field(13, maybe?.city)
        writer.field(14, data)
        writer.field(15, date)
        writer.field(16, quota)
        writer.field(17, size)
        writer.field(18, serial)
    }

    init(from reader: inout BinaryReader) throws {
        id = try reader.field(1)
        text = try reader.field(2)
        note = try reader.field(3)
        number = try reader.field(4)
        score = try reader.field(5)
        ratio = try reader.field(6)
        color = try reader.field(7)
        tags = try reader.field(8, default: [])
        isDone = try reader.field(9)
        owner = Owner(name: try reader.field(10), city: try reader.field(11))
        let (name, city) = (
            try reader.field(12, as: String?.self), try reader.field(13, as: String?.self)
        )
        maybe = name.map { Owner(name: $0, city: city) }
        data = try reader.field(14)
        date = try reader.field(15)
        quota = try reader.field(16)
        size = try reader.field(17)
        serial = try reader.field(18)
    }
}

extension Workspace {
    /// A repository of samples in the form that they say.
    func samples<Form>(_ form: Form.Type) -> Repository<Sample<Form>> {
        // A condition on the conformance chooses what is written: `Codable` types that are
        // `BinaryCodable` too are written so.
        repository(of: Sample<Form>.self, named: "Sample")
    }
}
