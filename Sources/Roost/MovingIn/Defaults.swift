import Foundation
import RoostIO
import Synchronization

/// A dictionary with the calls of `UserDefaults`, so that an app moves in an afternoon: its call sites stay as
/// they are.
///
/// ```swift
/// let defaults = workspace.defaults("settings")
/// defaults.register(defaults: ["launches": 1])
/// defaults.set(defaults.integer(forKey: "launches") + 1, forKey: "launches")
/// ```
///
/// - Reads are synchronous and give what `UserDefaults` gives: the registered default where there is no
///   value, zero, `false` or `nil` where there is none either. Numbers, text and booleans are converted
///   by Foundation itself, and so as it does on this platform: the text of 2.0 is "2" by Apple's and "2.0" by
///   the open one. Different are only numbers that `Int` does not hold, which are the nearest that it does, and
///   URLs: see `url(forKey:)`. The open Foundation reads `Int.max`, and what is beyond, as zero or `nil`;
///   here these are what was set.
/// - Writes are `enqueue(_:forKey:)`: visible at once to all readers,
///   written in the background. ``Workspace/synchronize()`` returns once they are on disk.
/// - These calls cannot throw. A value that cannot be read shows the default, and is told to
///   ``Workspace/failures``, as is a write that fails. For values whose loss matters use the dictionary.
/// - The values are those of ``dictionary``: typed keys, watching and transactions see them. What a typed key
///   of a `BinaryCodable` type stores (`[String]`, `[Int]`, an enumeration) has no word on its type:
///   ``stringArray(forKey:)`` reads texts of it, and all other calls but that for a date say
///   that they cannot. Eight bytes that are a date within 30,000 years are taken for one, whatever wrote them,
///   and a date that is further away than that is none here.
public final class Defaults: Sendable {
    /// The dictionary whose values these are.
    public let dictionary: WorkspaceDictionary
    private let registered = Mutex<[String: PropertyListTree]>([:])

    init(_ dictionary: WorkspaceDictionary) { self.dictionary = dictionary }

    /// What reads give where there is no value; for this object, until it goes. Later ones count.
    ///
    /// What no property list holds is left out, and told to ``Workspace/failures``.
    public func register(defaults: [String: Any]) {
        for (key, object) in defaults {
            guard let tree = tree(object, key) else { continue }
            registered.withLock { $0[key] = tree }
        }
    }

    // MARK: Reading

    /// The value as Foundation has it; `nil` where there is none. Numbers and booleans are `NSNumber` on Apple's platforms, as
    /// of `UserDefaults`, and there cast to `Int`, `Double` and `Bool` alike; elsewhere they are `Int`, `Double`, `Float`, `Bool`,
    /// and `UInt64` where an unsigned one was set.
    public func object(forKey key: String) -> Any? { find(key)?.object }

    /// Text; numbers as text, `true` as "1". `nil` for everything else.
    public func string(forKey key: String) -> String? {
        switch find(key) {
        case .string(let value): value
        case .int(let value): "\(value)"
        case .uint(let value): "\(value)"
        case .float(let value): Self.text(value, NSNumber(value: value))
        case .double(let value): Self.text(value, NSNumber(value: value))
        case .bool(let value): value ? "1" : "0"
        default: nil
        }
    }

    /// As this platform's `UserDefaults` has it.
    private static func text(_ value: some CustomStringConvertible, _ number: NSNumber) -> String {
        #if canImport(Darwin)
            number.stringValue
        #else
            value.description
        #endif
    }

    /// A whole number; other numbers without their fraction, `true` as 1, and of text the whole number that
    /// it begins with. Else zero. Beyond `Int` the nearest that it holds.
    public func integer(forKey key: String) -> Int {
        switch find(key) {
        case .int(let value): Int(value)
        case .uint(let value): Int(clamping: value)
        case .float(let value): Self.integer(Double(value))
        case .double(let value): Self.integer(value)
        case .bool(let value): value ? 1 : 0
        case .string(let value): NSString(string: value).integerValue
        default: 0
        }
    }

    private static func integer(_ value: Double) -> Int {
        Int(exactly: value.rounded(.towardZero)) ?? (value > 0 ? .max : value < 0 ? .min : 0)
    }

    /// A number; `true` as 1, and of text the number that it begins with. Else zero.
    public func double(forKey key: String) -> Double {
        switch find(key) {
        case .double(let value): value
        case .float(let value): Double(value)
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .bool(let value): value ? 1 : 0
        case .string(let value): NSString(string: value).doubleValue
        default: 0
        }
    }

    /// As `double(forKey:)`.
    public func float(forKey key: String) -> Float { Float(double(forKey: key)) }

    /// A boolean; numbers but zero are `true`, and so is text that begins as "YES", "true" or a number of
    /// which a digit but zero comes first. Else `false`.
    public func bool(forKey key: String) -> Bool {
        switch find(key) {
        case .bool(let value): value
        case .int(let value): value != 0
        case .uint(let value): value != 0
        case .float(let value): value != 0
        case .double(let value): value != 0
        case .string(let value): NSString(string: value).boolValue
        default: false
        }
    }

    /// Data; `nil` for everything else.
    public func data(forKey key: String) -> Data? {
        if case .data(let value) = find(key) { value } else { nil }
    }

    /// The URL that was set. Text without a scheme is the path of a file, `~` in it the home directory; data
    /// is a URL that `UserDefaults` has archived. `nil` for everything else.
    ///
    /// `UserDefaults` takes every text for a path; here a URL is set as its text, so that typed keys see it.
    public func url(forKey key: String) -> URL? {
        switch find(key) {
        case .string(let value):
            if let url = URL(string: value), url.scheme != nil { return url }
            return URL(fileURLWithPath: NSString(string: value).expandingTildeInPath)
        case .data(let value):
            do {
                return try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: value)
                    .map { $0 as URL }
            } catch {
                // Data is set for other reasons too, of which there is nothing to tell.
                return nil
            }
        default: return nil
        }
    }

    /// An array, with its elements as `object(forKey:)` gives them.
    public func array(forKey key: String) -> [Any]? {
        if case .array(let values) = find(key) { values.map(\.object) } else { nil }
    }

    /// An array of nothing but text. What a typed key of a `BinaryCodable` type has stored is read as
    /// `[String]`, which its bytes do not tell from everything else: an array of integers that are all zero reads
    /// as empty texts. Texts with control characters but tabs and line breaks are not taken for such.
    public func stringArray(forKey key: String) -> [String]? {
        guard case .array(let values) = find(key, isTextArray: true) else { return nil }
        let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        return texts.count == values.count ? texts : nil
    }

    /// A dictionary, with its values as `object(forKey:)` gives them.
    public func dictionary(forKey key: String) -> [String: Any]? {
        if case .dictionary(let members) = find(key) { members.mapValues(\.object) } else { nil }
    }

    /// Every value, and what is registered where there is none. Those of the system and of the command line,
    /// which `UserDefaults` shows too, are not there. Each is as `object(forKey:)` gives it.
    public func dictionaryRepresentation() -> [String: Any] {
        var trees = registered.withLock { $0 }
        do {
            for key in try dictionary.keys {
                do {
                    if let tree = try PropertyListTree.value(of: key, in: dictionary) {
                        trees[key] = tree
                    }
                } catch { note(error, key) }
            }
        } catch { note(error, dictionary.name) }
        return trees.mapValues(\.object)
    }

    // MARK: Writing

    /// Sets a whole number, without waiting.
    public func set(_ value: Int, forKey key: String) { dictionary.enqueue(value, forKey: key) }
    /// Sets a number, without waiting.
    public func set(_ value: Double, forKey key: String) { dictionary.enqueue(value, forKey: key) }
    /// Sets a boolean, without waiting.
    public func set(_ value: Bool, forKey key: String) { dictionary.enqueue(value, forKey: key) }

    /// Sets a number, without waiting.
    public func set(_ value: Float, forKey key: String) { dictionary.enqueue(value, forKey: key) }

    /// Sets a URL as its text, without waiting; removes the value where it is `nil`.
    public func set(_ url: URL?, forKey key: String) {
        set(url?.absoluteString as Any?, forKey: key)
    }

    /// Sets anything that a property list holds; removes the value where `value` is `nil`.
    public func set(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        // A property list has one type for this and `Double`.
        if type(of: value) == Float.self, let value = value as? Float {
            return set(value, forKey: key)
        }
        if let tree = tree(value, key) { _ = tree.enqueue(key, in: dictionary) }
    }

    /// Removes the value, so that what is registered counts.
    public func removeObject(forKey key: String) { dictionary.enqueueRemoval(forKey: key) }

    /// `true`. There is nothing to call it for, as there is not of `UserDefaults`: reads see what is set, and
    /// it is written without a call. Does not wait: ``Workspace/synchronize()`` returns once it is on disk.
    @discardableResult
    public func synchronize() -> Bool { true }

    // MARK: Within

    private func find(_ key: String, isTextArray: Bool = false) -> PropertyListTree? {
        do {
            let value = try PropertyListTree.value(
                of: key, in: dictionary, isTextArray: isTextArray)
            if let value { return value }
        } catch { note(error, key) }
        return registered.withLock { $0[key] }
    }

    private func tree(_ object: Any, _ key: String) -> PropertyListTree? {
        do { return try PropertyListTree(object: object) } catch {
            note(error, key)
            return nil
        }
    }

    private func note(_ error: any Error, _ key: String) {
        dictionary.workspace.engine.failures.note(
            error as? RoostError
                ?? RoostError(.decodingFailed, "\"\(key)\" could not be read", cause: error))
    }
}

extension Workspace {
    /// The dictionary called `name` with the calls of `UserDefaults`. What is registered belongs to
    /// what is returned: keep one.
    public func defaults(_ name: String = "settings") -> Defaults { Defaults(dictionary(name)) }
}
