/// What the demo writes 40,000 of: six fields, as apps have them.
struct DemoRecord: Codable, Equatable, Sendable {
    var identifier: Int
    var title: String
    var author: String
    var score: Double
    var isDraft: Bool
    var tags: [String]

    /// The record of `index`; the same at every call.
    init(_ index: Int) {
        identifier = index
        title = "Note \(index): what the heron saw"
        author = "author-\(index % 97)"
        score = Double(index % 1000) / 8
        isDraft = index % 3 == 0
        tags = ["tag-\(index % 7)", "tag-\(index % 11)"]
    }
}
