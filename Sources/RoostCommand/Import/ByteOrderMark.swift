/// The mark that editors and spreadsheets on Windows put before a text.
enum ByteOrderMark {
    /// How many bytes of UTF-8's mark are at the begin of a text: three, or none.
    static func sizeBytes(in text: some Collection<UInt8>) -> Int {
        text.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    }

    /// Why a text is not read; `nil` where it may be UTF-8.
    static func refusal(of text: some Collection<UInt8>) -> String? {
        text.starts(with: [0xff, 0xfe]) || text.starts(with: [0xfe, 0xff])
            ? "the text is UTF-16: write it as UTF-8" : nil
    }
}
