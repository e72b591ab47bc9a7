#if Replica
    /// The names of a prefix's objects. docs/REPLICA.md lists them.
    enum ObjectName {
        static let journal = "journal/"
        static let bases = "bases/"
        static let snapshots = "snapshots/"

        static func entry(_ index: UInt64) -> String { journal + padded(index) }

        static func index(ofEntry name: String) -> UInt64? { index(name, behind: journal) }

        /// Of the base that `writer` has begun when the journal ended before `index`.
        static func base(_ index: UInt64, _ writer: Identifier) -> String {
            "\(bases)\(padded(index))-\(writer)"
        }

        /// Where the journal ended when the base was begun.
        static func index(ofBase name: String) -> UInt64? { index(name, behind: bases) }

        /// Named by what it holds, and by who wrote it for which base: no name is ever used again, so that
        /// a removal that comes late removes nothing else.
        static func snapshot(
            _ digest: [UInt8], _ writer: Identifier, _ base: UInt64
        ) -> String {
            "\(snapshots)\(hexadecimal(digest))-\(writer)-\(base)"
        }

        /// With as many digits as the greatest has, so that names stand in the order of the numbers.
        private static func padded(_ index: UInt64) -> String {
            let digits = String(index)
            return String(repeating: "0", count: digitCount - digits.count) + digits
        }

        private static let digitCount = 20

        private static func index(_ name: String, behind prefix: String) -> UInt64? {
            guard name.hasPrefix(prefix) else { return nil }
            return UInt64(name.dropFirst(prefix.count).prefix(digitCount))
        }
    }
#endif
