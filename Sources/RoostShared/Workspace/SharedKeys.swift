import RoostFormat
import RoostIO

/// Where the records of a namespace stand in an engine: `namespace/dictionary/key`.
///
/// In the names of namespaces and dictionaries `/` and `%` are written as `%2F` and `%25`, so that a slash always
/// ends one. What the library keeps for itself has a `%` that no such name can have.
package struct SharedKeys: Sendable, Hashable {
    package let namespace: String
    private let prefix: [UInt8]

    init(namespace: String) throws {
        guard (1...128).contains(namespace.utf8.count) else {
            throw RoostError(.keyTooLarge, "a namespace has between 1 and 128 bytes")
        }
        self.namespace = namespace
        prefix = Self.escaped(namespace) + [slash]
    }

    /// What names a dictionary and its namespace where both are one name; no other pair has it.
    func pairName(of dictionary: String) -> String {
        String(decoding: prefix + Self.escaped(dictionary), as: UTF8.self)
    }

    /// All that the namespace has.
    package var everything: SharedKeyRange { Self.range(behind: prefix) }

    /// The record that says in which form the namespace is written.
    var format: [UInt8] { prefix + Array("%format".utf8) }

    /// The record that a client's commits leave behind; docs/SHARED.md, "Lost answers".
    func mark(_ client: String, _ number: Int) -> [UInt8] {
        prefix + Self.markStart + Array("\(client)/\(number)".utf8)
    }

    private static let markStart = Array("%marks/".utf8)

    /// The marks of all clients of the namespace that this mark is in.
    package static func marks(of mark: [UInt8]) -> SharedKeyRange? {
        guard let slash = mark.firstIndex(of: slash) else { return nil }
        return range(behind: mark[...slash] + markStart)
    }

    /// The record that says which indexes a dictionary's objects have.
    func catalog(of dictionary: String) -> [UInt8] {
        prefix + Array("%indexes/".utf8) + Self.escaped(dictionary)
    }

    /// The entries of one of a dictionary's indexes.
    func entries(of dictionary: String, number: UInt64) -> SharedKeyRange {
        Self.range(behind: entriesStart(dictionary) + Array("\(number)/".utf8))
    }

    /// The entries of all indexes of a dictionary.
    func entries(of dictionary: String) -> SharedKeyRange {
        Self.range(behind: entriesStart(dictionary))
    }

    private func entriesStart(_ dictionary: String) -> [UInt8] {
        prefix + Array("%entries/".utf8) + Self.escaped(dictionary) + [slash]
    }

    /// All keys of a dictionary.
    package func range(of dictionary: String) -> SharedKeyRange {
        Self.range(behind: start(of: dictionary))
    }

    /// What the keys of a dictionary begin with.
    package func start(of dictionary: String) -> [UInt8] {
        prefix + Self.escaped(dictionary) + [slash]
    }

    /// Whether the record is one of a dictionary, rather than the library's own.
    package func dictionary(of key: [UInt8]) -> (name: String, key: String)? {
        let rest = key.dropFirst(prefix.count)
        guard let end = rest.firstIndex(of: slash), let name = Self.unescaped(rest[..<end]) else {
            return nil
        }
        return (name, String(decoding: rest[(end + 1)...], as: UTF8.self))
    }

    /// The first key after all that begin as `key` does up to the slash after its dictionary's name.
    func end(ofDictionaryWith key: [UInt8]) -> [UInt8] {
        guard let end = key.dropFirst(prefix.count).firstIndex(of: slash) else { return key + [0] }
        return Self.range(behind: Array(key[...end])).upper
    }

    private static func range(behind prefix: [UInt8]) -> SharedKeyRange {
        // A slash is its last byte, which has a successor.
        SharedKeyRange(lower: prefix, upper: prefix.dropLast() + [slash + 1])
    }

    private static func escaped(_ name: String) -> [UInt8] {
        name.utf8.flatMap { byte in
            switch byte {
            case slash: Array("%2F".utf8)
            case percent: Array("%25".utf8)
            default: [byte]
            }
        }
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String? {
        var plain: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == percent else {
                plain.append(byte)
                continue
            }
            switch Array(rest.prefix(2)) {
            case Array("2F".utf8): plain.append(slash)
            case Array("25".utf8): plain.append(percent)
            default: return nil
            }
            rest = rest.dropFirst(2)
        }
        return String(validating: plain, as: UTF8.self)
    }
}

private let slash = UInt8(ascii: "/")
private let percent = UInt8(ascii: "%")
