import Roost
import RoostForms

/// One change as the page shows it.
enum ChangeLook {
    static func json(_ change: DictionaryChange<StoredValue>, in dictionary: String) -> JSONValue {
        switch change {
        case .set(let key, let value, let version):
            var members = line("set", dictionary, key, version)
            let size = 1 + value.payload.count
            let isCut = size > ValuePreview.decodedSizeLimitBytes
            members += ValuePreview(value, sizeBytes: size, isCut: isCut).members
            return .object(members)
        case .removed(let key, let version):
            return .object(line("removed", dictionary, key, version))
        case .removedAll(let version):
            return .object(line("removedAll", dictionary, nil, version))
        case .unreadable(let key, let error, let version):
            return .object(
                line("unreadable", dictionary, key, version) + [
                    .init(name: "preview", value: .string(error.message))
                ])
        case .missed(let count): return missed(count, in: dictionary)
        }
    }

    static func missed(_ count: Int, in dictionary: String?) -> JSONValue {
        .members([
            "change": .string("missed"), "dictionary": dictionary.map { .string($0) } ?? .null,
            "count": .integer(count),
        ])
    }

    /// Why no more changes come.
    static func ended(_ error: RoostError) -> JSONValue {
        .members([
            "code": .string(error.code.description), "message": .string(error.description),
        ])
    }

    private static func line(
        _ change: String, _ dictionary: String, _ key: String?, _ version: UInt64
    ) -> [JSONValue.Member] {
        [
            .init(name: "change", value: .string(change)),
            .init(name: "dictionary", value: .string(dictionary)),
            .init(name: "key", value: key.map { .string($0) } ?? .null),
            .init(name: "version", value: .integer(version)),
        ]
    }
}
