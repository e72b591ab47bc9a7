import RoostFormat

@testable import RoostEngine

/// Numbers as values of the dictionary `name`, for tests of an engine.
enum SampleNumbers {
    static let name = DictionaryName("d")!

    static func value(_ number: UInt64) -> EncodedValue {
        EncodedValue(kind: ValueKind.uint64.rawValue, payload: .inline(number, count: 8))
    }

    static func number(_ bytes: UnsafeRawBufferPointer?) -> UInt64? {
        bytes.map { $0.loadUnaligned(fromByteOffset: 1, as: UInt64.self).littleEndian }
    }

    static func read(_ key: String, _ engine: Engine) throws -> UInt64? {
        guard let found = try engine.find(key, name: name, isResidentAllowed: false) else {
            return nil
        }
        return withExtendedLifetime(found.owner) { number(found.bytes) }
    }

    static func read(_ key: String, _ view: EngineView) throws -> UInt64? {
        guard let found = try view.find(key, name: name) else { return nil }
        return withExtendedLifetime(found.owner) { number(found.bytes) }
    }
}
