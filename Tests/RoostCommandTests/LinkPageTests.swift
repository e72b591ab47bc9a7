import Foundation
import Testing

@testable import RoostCommand

@Suite struct LinkPageTests {
    private func mode(_ path: String) throws -> Int {
        try #require(
            FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func onlyItsOwnerReadsTheLinkAndItGoesWhenItWasUsed() throws {
        let link = "http://127.0.0.1:1/open?token=0123"
        let (one, other) = (try LinkPage(link), try LinkPage(link))
        let directory = URL(fileURLWithPath: one.path).deletingLastPathComponent().path
        #expect(one.path != other.path && !one.path.contains("0123"))
        #expect(try mode(one.path) == 0o600)
        #expect(try mode(directory) == 0o700)
        let text = try String(contentsOfFile: one.path, encoding: .utf8)
        #expect(text.contains("content=\"0; url=\(link)\""))
        for page in [one, other] {
            page.remove()
            page.remove()
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
    }
}
