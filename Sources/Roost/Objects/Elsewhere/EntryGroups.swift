import RoostEngine
import RoostFormat
import RoostIO

/// The entries of an index by the values of its first fields, or by each element that it has, of just the objects that a
/// query asks for; as `IndexGroups`, in bytes.
package struct EntryGroups<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    /// All entries, in ascending order.
    package let plan: EntryPlan<Item>
    private let ranges: IndexRanges<Item>
    private let active: [IndexSet<Item>.Active]
    /// How many fields of the index the groups are told apart by.
    private let fieldCount: Int

    fileprivate init(
        _ ranges: IndexRanges<Item>, fieldCount: Int, _ active: [IndexSet<Item>.Active]
    ) {
        self.ranges = ranges
        self.fieldCount = fieldCount
        self.active = active
        plan = EntryPlan([ranges], nil, active)
    }

    /// What an entry has of the first fields, and whether several values may have that.
    package func form(ofEntry key: [UInt8]) throws -> (form: [UInt8], isTruncated: Bool) {
        let index = ranges.active.index
        guard let (end, truncatedField) = key.withUnsafeBytes({ index.parse($0) }) else {
            throw EntryPlan<Item>.malformed(index)
        }
        return (
            index.form(Array(key[..<end]), fieldCount: fieldCount),
            truncatedField.map { $0 < fieldCount } ?? false
        )
    }

    /// What is behind all entries of a group; `nil` where nothing can be.
    package func end(ofGroup form: [UInt8]) -> [UInt8]? { followerOfPrefix(form) }

    /// The entries of one group.
    package func plan(ofGroup form: [UInt8]) -> EntryPlan<Item> {
        EntryPlan([ranges.with(form: form)], nil, active)
    }
}

extension DeclaredIndexes where Item: Identifiable, Item.ID: Sendable {
    /// The entries of an index that has just the objects that a query asks for, all of them, by fields or by the elements
    /// of one; `nil` where none has.
    package func groups(
        _ terms: QueryTerms<Item>, usable: Set<Int>, by paths: [FieldPath]
    ) -> EntryGroups<Item>? {
        guard terms.isWhole else { return nil }
        let fitting = usable.sorted().map { active[$0] }
        if let path = paths.first, path.isEach {
            return IndexRanges.grouping(byEach: path, among: fitting, terms.condition).map {
                EntryGroups($0, fieldCount: 1, active)
            }
        }
        return IndexRanges.grouping(by: paths, among: fitting, terms.condition).map {
            EntryGroups($0.ranges, fieldCount: $0.fieldCount, active)
        }
    }
}
