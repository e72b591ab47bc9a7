#if Replica
    import Roost

    /// What an answer in XML says. The answers are of one known form each, and what is looked for in them
    /// are elements without attributes.
    struct S3Listing {
        var objects: [StoredObject] = []
        /// Whether the list goes on.
        var isTruncated = false
        /// Where the list goes on; `nil` at its end, and of servers that say only that it does.
        var continuation: String?

        /// - Parameter prefixCount: How many bytes of each name are not part of it.
        init(_ body: [UInt8], dropping prefixCount: Int) throws {
            let text = String(decoding: body, as: UTF8.self)
            guard text.contains("<ListBucketResult") else {
                throw RoostError(.io, "the storage's list is none")
            }
            // An answer whose length is not said ends where the connection does.
            guard text.contains("</ListBucketResult>") else {
                throw RoostError(.io, "the storage's list breaks off")
            }
            for part in Self.elements("Contents", in: text) {
                guard let key = Self.value(of: "Key", in: part),
                    let sizeBytes = Self.value(of: "Size", in: part).flatMap({ UInt64($0) })
                else { throw RoostError(.io, "the storage's list makes no sense") }
                objects.append(
                    StoredObject(
                        name: String(decoding: key.utf8.dropFirst(prefixCount), as: UTF8.self),
                        sizeBytes: sizeBytes))
            }
            isTruncated = Self.value(of: "IsTruncated", in: text) == "true"
            if isTruncated {
                continuation = Self.value(of: "NextContinuationToken", in: text)
            }
        }

        /// The text of the first element called `name`.
        static func value(of name: String, in text: some StringProtocol) -> String? {
            elements(name, in: text, limit: 1).first.map { unescaped($0) }
        }

        private static func elements(
            _ name: String, in text: some StringProtocol, limit: Int = .max
        ) -> [String] {
            let bytes = Array(text.utf8)
            let (open, close) = (Array("<\(name)>".utf8), Array("</\(name)>".utf8))
            var found: [String] = []
            var place = 0
            while found.count < limit, let begin = index(of: open, in: bytes, from: place),
                let end = index(of: close, in: bytes, from: begin + open.count)
            {
                found.append(
                    String(decoding: bytes[(begin + open.count)..<end], as: UTF8.self))
                place = end + close.count
            }
            return found
        }

        private static func index(of part: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
            guard bytes.count >= part.count else { return nil }
            var place = start
            while place <= bytes.count - part.count {
                if bytes[place] == part[0], bytes[place..<(place + part.count)].elementsEqual(part)
                {
                    return place
                }
                place += 1
            }
            return nil
        }

        private static func unescaped(_ text: String) -> String {
            guard text.contains("&") else { return text }
            let entities = [
                ("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&lt;", "<"),
                ("&gt;", ">"), ("&amp;", "&"),
            ]
            return entities.reduce(text) { text, entity in
                text.split(separator: entity.0, omittingEmptySubsequences: false)
                    .joined(separator: entity.1)
            }
        }
    }
#endif
