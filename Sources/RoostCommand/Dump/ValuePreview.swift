import Roost
import RoostFormat

/// Keys and values of a dump, each on one line.
struct ValuePreview {
    /// Longer values are cut to about this many characters; `nil` cuts nothing.
    var maximumCharacterCount: Int?

    /// `"dictionary" "key"`, with the escapes of JSON.
    func key(_ recordKey: UnsafeRawBufferPointer) -> String {
        guard let (dictionary, key) = splitRecordKey(recordKey) else {
            return "a key of no dictionary, \(recordKey.count) bytes"
        }
        return "\(quoted(dictionary)) \(quoted(key))"
    }

    /// The dictionary that a clear's key names.
    func dictionary(_ prefix: UnsafeRawBufferPointer) -> String {
        quoted(.init(rebasing: prefix.dropFirst()))
    }

    private func quoted(_ bytes: UnsafeRawBufferPointer) -> String {
        JSONValue.string(String(decoding: bytes, as: UTF8.self)).text
    }

    /// The stored kind, and the value as `export` shows it.
    func value(_ stored: UnsafeRawBufferPointer) -> String {
        guard let value = StoredValue(stored: stored) else { return "no kind" }
        let kind = ValueKind(rawValue: value.kind)?.typeName ?? "kind \(value.kind)"
        let text = StoredForm.json(value).text
        guard let maximumCharacterCount, text.count > maximumCharacterCount else {
            return "\(kind)  \(text)"
        }
        return "\(kind)  \(text.prefix(maximumCharacterCount))… (\(grouped(stored.count)) bytes)"
    }
}
