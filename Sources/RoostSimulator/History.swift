/// What the workspace should hold: the oracle of a run.
///
/// - A batch's sequence number is its index plus one.
/// - `acknowledgedCount` batches were acknowledged: the death of the process leaves them.
/// - `durableCount` batches were promised to be on disk: a power cut leaves them.
/// - A batch that failed after it was appended is in the log and not visible: the next opening
///   may bring it.
package struct History: Sendable {
    package enum Change: Sendable {
        case put(dictionary: String, key: String, value: [UInt8])
        case remove(dictionary: String, key: String)
        case clear(dictionary: String)
    }

    package struct Batch: Sendable {
        package var changes: [Change]
        /// Somebody waited for it to be on disk: an opening that shows it has seen to that.
        package var isAwaited: Bool
        package var isVisible: Bool

        package init(changes: [Change], isAwaited: Bool, isVisible: Bool) {
            self.changes = changes
            self.isAwaited = isAwaited
            self.isVisible = isVisible
        }
    }

    /// The values by key by dictionary; no dictionary in it is empty.
    package typealias Content = [String: [String: [UInt8]]]

    package private(set) var batches: [Batch] = []
    package var acknowledgedCount = 0
    package var durableCount = 0

    /// A batch whose frame was being written when the write failed: it may be whole.
    package var uncertain: Batch?

    package init() {}

    package mutating func append(_ batch: Batch) { batches.append(batch) }

    /// What readers should see now.
    package var visibleContent: Content { content(of: batches.filter(\.isVisible)) }

    /// An opening kept the first `count` batches.
    package mutating func keep(_ count: Int) {
        if let uncertain, count == batches.count + 1 { batches.append(uncertain) }
        uncertain = nil
        batches.removeSubrange(count...)
        for index in batches.indices { batches[index].isVisible = true }
        acknowledgedCount = count
        let lastAwaited = batches.lastIndex(where: \.isAwaited).map { $0 + 1 } ?? 0
        durableCount = max(min(durableCount, count), lastAwaited)
    }

    private func content(of batches: [Batch]) -> Content {
        var content: Content = [:]
        for batch in batches {
            for case .clear(let dictionary) in batch.changes { content[dictionary] = nil }
            for change in batch.changes {
                switch change {
                case .put(let dictionary, let key, let value): content[dictionary, default: [:]][key] = value
                case .remove(let dictionary, let key):
                    content[dictionary]?[key] = nil
                    if content[dictionary]?.isEmpty == true { content[dictionary] = nil }
                case .clear: break
                }
            }
        }
        return content
    }
}

extension History {
    /// Where two contents differ, in few words; `nil` where they do not.
    package static func difference(found: Content, expected: Content) -> String? {
        if found == expected { return nil }
        var lines: [String] = []
        for dictionary in Set(found.keys).union(expected.keys).sorted() {
            let found = found[dictionary] ?? [:]
            let expected = expected[dictionary] ?? [:]
            for key in Set(found.keys).union(expected.keys).sorted() where found[key] != expected[key] {
                lines.append("\(dictionary)/\(key): found \(brief(found[key])), expected \(brief(expected[key]))")
            }
        }
        return lines.prefix(5).joined(separator: "; ") + (lines.count > 5 ? "; … \(lines.count) in all" : "")
    }

    private static func brief(_ value: [UInt8]?) -> String {
        value.map { "\($0.count) bytes \($0.prefix(9))" } ?? "nothing"
    }
}
