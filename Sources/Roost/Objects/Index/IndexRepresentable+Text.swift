import Foundation

#if !canImport(Darwin)
    @_spi(_Unicode) import Swift
#endif

// Strings are kept in their composed form (NFC), whose bytes go in the order of Swift's `<` and are
// equal exactly where `==` says so.

extension String: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { IndexShape(.escaped, "string") }

    public func encode(into form: inout IndexForm) {
        var text = self
        text.withUTF8 { utf8 in
            // Nothing below U+0300 is changed by composition: most text is that.
            if utf8.allSatisfy({ $0 < 0xcc }) { return form.append(escaping: utf8) }
            form.append(escaping: Array(composed.utf8))
        }
    }

    /// The text whose bytes an index has.
    var inComposedForm: String { utf8.allSatisfy { $0 < 0xcc } ? self : composed }

    /// NFC by the tables that `==` goes by.
    private var composed: String {
        #if canImport(Darwin)
            return precomposedStringWithCanonicalMapping
        #else
            var scalars = UnicodeScalarView()
            scalars.append(contentsOf: _nfc)
            return String(scalars)
        #endif
    }
}

extension URL: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { IndexShape(.escaped, "url") }

    /// As it was written, and behind a zero, which stands in no URL, what it is relative to.
    public func encode(into form: inout IndexForm) {
        var text = relativeString
        var base = baseURL
        while let url = base {
            text += "\0" + url.relativeString
            base = url.baseURL
        }
        text.encode(into: &form)
    }
}

extension Data: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { IndexShape(.escaped, "bytes") }
    public func encode(into form: inout IndexForm) { form.append(escaping: self) }
}

extension Array: IndexRepresentable, KnownForm where Element == UInt8 {
    public static var indexShape: IndexShape { IndexShape(.escaped, "bytes") }
    public func encode(into form: inout IndexForm) { form.append(escaping: self) }
}
