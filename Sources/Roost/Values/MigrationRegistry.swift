import RoostEngine
import RoostFormat
import Synchronization

/// A workspace's migrations, by dictionary.
///
/// - `count` grows with every registration, under the mutex; while it is zero nobody looks
///   further.
final class MigrationRegistry: ValueRewriter {
    private let count = Atomic<UInt64>(0)
    private let byPrefix = Mutex<[[UInt8]: Migrations]>([:])

    var isEmpty: Bool {
        @inline(__always) get { count.load(ordering: .acquiring) == 0 }
    }

    func add(_ step: Migrations.Step, to name: DictionaryName) {
        byPrefix.withLock { all in
            if all[name.prefix]?.add(step) == nil { all[name.prefix] = Migrations(step) }
            count.wrappingAdd(1, ordering: .releasing)
        }
    }

    func migrations(of name: DictionaryName) -> Migrations? {
        isEmpty ? nil : byPrefix.withLock { $0[name.prefix] }
    }

    // MARK: While compaction copies values

    var generation: UInt64 { count.load(ordering: .acquiring) }

    func concerns(dictionary prefix: UnsafeRawBufferPointer) -> Bool {
        byPrefix.withLock { $0[Array(prefix)] != nil }
    }

    func rewrite(
        _ value: UnsafeRawBufferPointer, inDictionary prefix: UnsafeRawBufferPointer
    ) -> EncodedValue? {
        guard let migrations = byPrefix.withLock({ $0[Array(prefix)] }),
            let header = ValueHeader(value), let kind = ValueKind(rawValue: header.kind),
            header.version >= migrations.oldest, header.version < migrations.newest
        else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: value[header.sizeBytes...])
        do {
            let newest = try migrations.value(
                kind, payload, from: header.version, to: migrations.newest)
            guard let newest, let type = migrations.steps.last?.to else { return nil }
            return try type.encode(newest, ValueCoder(kind) ?? .roost)
                .with(version: migrations.newest).with(deadline: header.deadline)
        } catch {
            // The bytes stay as they are, and whoever reads them is told.
            return nil
        }
    }
}

extension ValueCoder {
    /// The coder that writes values of `kind`, so that a value keeps its own.
    fileprivate init?(_ kind: ValueKind) {
        switch kind {
        case .roost: self = .roost
        case .json: self = .json
        case .propertyList: self = .propertyList
        default: return nil
        }
    }
}
