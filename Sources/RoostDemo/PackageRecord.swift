import Foundation

/// A line of the fixture: a package of a Linux distribution.
struct PackageLine: Decodable {
    var dictionary: String
    var key: String
    var value: PackageRecord
}

struct PackageRecord: Codable, Equatable, Sendable {
    var version: String
    var section: String
    var installedSizeKibibytes: Int
    var dependencies: [String]
}

extension PackageLine {
    /// All lines of the file at `path`.
    static func all(at path: String) throws -> [PackageLine] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try data.split(separator: UInt8(ascii: "\n")).enumerated().map { index, line in
            do { return try JSONDecoder().decode(PackageLine.self, from: line) } catch {
                throw DemoFailure("\(path):\(index + 1) is not a package: \(error)")
            }
        }
    }
}
