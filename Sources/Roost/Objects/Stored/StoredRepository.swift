import RoostEngine
import RoostFormat
import RoostIO

/// The objects of one dictionary and the entries of its indexes at one moment, as they are stored: for
/// tools, which do not know the type.
package final class StoredRepository {
    package let dictionary: String
    package let indexes: [StoredIndex]
    private let name: DictionaryName
    private let view: EngineView

    package init(_ workspace: Workspace, _ dictionary: String) throws {
        self.dictionary = dictionary
        name = try workspace.dictionary(dictionary).checkedName()
        let view = try workspace.engine.view()
        self.view = view
        do { indexes = try StoredIndex.all(view).filter { $0.isOf(dictionary) } } catch {
            view.close()
            throw error
        }
    }

    deinit { view.close() }

    // MARK: Objects

    package func objectCount() throws -> Int { try view.count(of: name) }

    /// Calls `body` with each object behind a key, or with each, by the bytes of their keys, until it says
    /// `false`.
    package func forEachObject(
        behind last: String? = nil, _ body: (_ key: String, _ value: StoredValue) throws -> Bool
    ) throws {
        // The first key that is greater has one more byte.
        let lower: [UInt8] = last.map { $0.utf8 + [0] } ?? []
        let scan = try view.scan(RecordRange(name, lower: lower, upper: nil))
        while let (key, value) = try scan.storedEntry(of: name) {
            guard try body(key, value) else { return }
            try scan.moveToNext()
        }
    }

    package func object(_ key: String) throws -> StoredValue? {
        guard let found = try view.find(key, name: name) else { return nil }
        return try found.withBytes { StoredValue(stored: $0) }
    }

    package func hasObject(_ key: String) throws -> Bool { try view.contains(key, name: name) }

    // MARK: Entries

    package struct Entry: Sendable {
        /// The form of the fields.
        package let form: [UInt8]
        package let objectKey: String
        /// The entry's own key among those of its index.
        package let key: [UInt8]
        /// Whether it goes at a deadline, which is that of its object: a view has no moment of its own for those.
        package let expires: Bool
    }

    /// Calls `body` with each entry whose key is from `lower` on, up to but not with `upper`, until it
    /// says `false`; with `nil` for one that is none.
    package func forEachEntry(
        of index: StoredIndex, from lower: [UInt8] = [], below upper: [UInt8]? = nil,
        _ order: ScanOrder = .ascending, _ body: (Entry?) throws -> Bool
    ) throws {
        let prefixCount = index.entries.prefix.count
        let range = RecordRange(index.entries, lower: lower, upper: upper)
        let scan = try view.scan(range, order, limit: .max)
        while let recordKey = scan.recordKey {
            let key = UnsafeRawBufferPointer(rebasing: recordKey[prefixCount...])
            let found: Entry? = try scan.withValue { try entry(key, $0, index) }
            guard try body(found) else { return }
            try scan.moveToNext()
        }
    }

    private func entry(
        _ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer, _ index: StoredIndex
    ) throws -> Entry? {
        guard let shape = index.shape, let end = shape.formEnd(in: key) else { return nil }
        let objectKey =
            end < key.count || !shape.isUnique
            ? Array(key[end...]) : indexedObjectKey(inValue: stored)
        guard let text = String(validating: objectKey, as: UTF8.self) else { return nil }
        let expires = ValueHeader(stored).map { $0.deadline != .never } ?? false
        return Entry(
            form: Array(key[..<end]), objectKey: text, key: Array(key), expires: expires)
    }

    /// Whether an index has the entry of an object.
    package func hasEntry(
        _ form: [UInt8], _ objectKey: String, in index: StoredIndex
    ) throws -> Bool {
        let keys =
            index.shape?.isUnique == true
            ? [form, form + objectKey.utf8] : [form + objectKey.utf8]
        for key in keys {
            let recordKey = index.entries.prefix + key
            guard let found = try view.find(recordKey: recordKey, in: index.entries) else {
                continue
            }
            if key.count > form.count { return true }
            return try found.withBytes {
                indexedObjectKey(inValue: $0).elementsEqual(objectKey.utf8)
            }
        }
        return false
    }
}
