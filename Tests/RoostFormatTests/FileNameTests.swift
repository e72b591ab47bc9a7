import RoostFormat
import Testing

@Suite struct FileNameTests {
    @Test func everyNameComesBack() {
        let names: [FileName] = [
            .manifest, .newManifest, .signals, .segment(0), .segment(7), .segment(999_999_999_999),
            .segment(1_000_000_000_000), .snapshot(12), .unfinishedSnapshot(12),
            .tornTail(segment: 3, offset: 64), .tornTail(segment: 3, offset: 64, copy: 2),
            .unfinishedTornTail(segment: 3, offset: 64),
        ]
        for name in names { #expect(FileName(name.text) == name) }
        #expect(Set(names.map(\.text)).count == names.count)
        #expect(FileName.segment(7).text == "log-000000000007")
    }

    @Test(arguments: [
        "", "log", "log-", "log-7", "log-+00000000007", "log-00000000000a", "log-000000000007.new",
        "log--00000000007", "log-000000000007-1", "LOG-000000000007", "manifest", "MANIFEST-1",
        "MANIFEST.new.new", "SIGNALS.new", "signals", "snapshot-000000000001.old",
        "torn-000000000001", ".new", "-",
        "log-99999999999999999999999", "snapshot- 00000000001", "log-18446744073709551615",
        "log-00000000000٧",
    ])
    func otherNamesAreNone(text: String) { #expect(FileName(text) == nil) }
}
