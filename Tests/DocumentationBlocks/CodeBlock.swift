import Foundation

/// One code block of a Markdown file, with what a hidden comment above it says of it.
///
///     <!-- code: NAME [watching]
///     what the block takes for given: declarations and statements that stand before it
///     ---
///     what is to hold behind it
///     -->
///     ```swift
///     …
///     ```
///
/// A block whose comment says `program` is a whole program, `manifest` a package manifest, and
/// `output` what the program above it prints.
struct CodeBlock {
    var file: String
    var line: Int
    /// `swift`, `sh` and so on, as it stands behind the fence.
    var language: String
    /// `nil` where there is no comment above.
    var name: String?
    var options: Set<String>
    var given: [String]
    var code: [String]
    var expected: [String]

    /// All blocks of a file, in order.
    static func all(in text: String, file: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var comment: [String]?
        var lines = text.components(separatedBy: "\n").enumerated().makeIterator()
        while let (index, line) = lines.next() {
            if line.hasPrefix("<!-- code: ") {
                var collected = [String(line.dropFirst("<!-- code: ".count))]
                while !collected.last!.hasSuffix("-->"), let (_, next) = lines.next() {
                    collected.append(next)
                }
                collected[collected.count - 1].removeLast(3)
                comment = collected
            } else if line.hasPrefix("```"), line.count > 3 {
                var code: [String] = []
                while let (_, next) = lines.next(), next != "```" { code.append(next) }
                blocks.append(
                    CodeBlock(
                        file: file, line: index + 1, language: String(line.dropFirst(3)),
                        comment: comment, code: code))
                comment = nil
            } else if !line.isEmpty {
                comment = nil
            }
        }
        return blocks
    }

    private init(file: String, line: Int, language: String, comment: [String]?, code: [String]) {
        self.file = file
        self.line = line
        self.language = language
        self.code = code
        let words = comment?.first?.split(separator: " ").map(String.init) ?? []
        name = words.first
        options = Set(words.dropFirst())
        let body = (comment ?? []).dropFirst()
        let end = body.firstIndex(of: "---") ?? body.endIndex
        given = Array(body[..<end])
        expected = end < body.endIndex ? Array(body[(end + 1)...]) : []
        while given.last?.isEmpty == true { given.removeLast() }
        while expected.last?.isEmpty == true { expected.removeLast() }
    }
}
