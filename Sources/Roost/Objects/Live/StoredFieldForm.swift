import RoostCoding
import RoostFormat
import RoostIO

/// The form of one field as an object's stored bytes give it, so that an object which no live result is about need
/// not be made.
struct StoredFieldForm: Sendable {
    private let reader: StoredReader<[UInt8]>
    private let owner: Any.Type

    /// `nil` where no stored bytes say where the field is, as where migrations make other objects of them.
    init?<Item>(_ path: FieldPath, _ repository: Repository<Item>) {
        guard repository.dictionary.workspace.migrations.isEmpty, !path.isEach, path.chain == nil,
            let type = Swift.type(of: path.keyPath).valueType as? any IndexRepresentable.Type,
            let reader = Self.reader(type, Item.self, path)
        else { return nil }
        self.reader = reader
        owner = Item.self
    }

    private static func reader<Value: IndexRepresentable, Item: Sendable>(
        _ type: Value.Type, _ owner: Item.Type, _ path: FieldPath
    ) -> StoredReader<[UInt8]>? {
        guard let keyPath = path.keyPath as? KeyPath<Item, Value> else { return nil }
        return StoredAccess(keyPath).map { IndexForm($0).bytes }
            .reader(among: declaredFields(of: Item.self))
    }

    /// `nil` where that takes the object: as of `StoredCondition.answer`.
    func form(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let header = ValueHeader(bytes), header.version == 1 else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[header.sizeBytes...])
        do {
            switch ValueKind(rawValue: header.kind) {
            case .binary:
                guard let read = reader.binary else { return nil }
                return try BinaryReader.withFields(of: owner, in: payload) { try read(&$0) }
            case .roost:
                guard let read = reader.coded else { return nil }
                return try RoostCoder().withFields(of: owner, in: payload) { try read(&$0) }
            default: return nil
            }
        } catch {
            // Decoding the object says what is wrong with it.
            return nil
        }
    }
}
