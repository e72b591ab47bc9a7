import RoostCoding
import RoostFormat
import RoostIO

/// The form of one field as an object's stored bytes give it, so that an object which no live result is about need
/// not be made.
struct StoredFieldForm<Item: Sendable>: Sendable {
    private let reader: StoredReader<[UInt8]>

    /// `nil` where no stored bytes say where the field is, as where migrations make other objects of them.
    init?(_ path: FieldPath, _ repository: Repository<Item>)
    where Item: Identifiable, Item.ID: Sendable {
        guard repository.dictionary.workspace.migrations.isEmpty, !path.isEach, path.chain == nil,
            let type = Swift.type(of: path.keyPath).valueType as? any IndexRepresentable.Type,
            let reader = Self.reader(type, path)
        else { return nil }
        self.reader = reader
    }

    private static func reader<Value: IndexRepresentable>(
        _ type: Value.Type, _ path: FieldPath
    ) -> StoredReader<[UInt8]>? {
        guard let keyPath = path.keyPath as? KeyPath<Item, Value> else { return nil }
        return StoredAccess(keyPath).map { IndexForm($0).bytes }
            .reader(among: StoredCondition<Item>.declaredFields)
    }

    /// `nil` where that takes the object: as of `StoredCondition.answer`.
    func form(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let header = ValueHeader(bytes), header.version == 1 else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[header.sizeBytes...])
        do {
            switch ValueKind(rawValue: header.kind) {
            case .binary:
                guard let read = reader.binary else { return nil }
                return try BinaryReader.withFields(of: Item.self, in: payload) { try read(&$0) }
            case .roost:
                guard let read = reader.coded else { return nil }
                return try RoostCoder().withFields(of: Item.self, in: payload) { try read(&$0) }
            default: return nil
            }
        } catch {
            // Decoding the object says what is wrong with it.
            return nil
        }
    }
}
