/// A hash for names in a store: the same in every process. FNV-1a, which `add` tells by its length where a run of bytes
/// ends.
struct NamingHash {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: [UInt8]?) {
        add(number: Int64(bytes?.count ?? -1))
        addEach(bytes ?? [])
    }

    mutating func add(number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { addEach($0) }
    }

    mutating func addEach(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    /// In sixteen digits.
    var text: String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
