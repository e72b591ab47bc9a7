import RoostFormat

/// The bytes that an index keeps of one field: ordered by their bytes as the values are, and none of
/// them the begin of another.
///
/// A type of your own hands on to the form of what it consists of; see ``IndexRepresentable``.
public struct IndexForm: Sendable {
    /// How much of a field is kept. Values that agree in it are told apart by their objects.
    public static let fieldSizeLimitBytes = 1024

    var bytes: [UInt8] = []
    /// Whether some of a field did not fit.
    var isTruncated = false
    /// Whether the value is not equal to itself, as NaN is.
    var isUnequal = false
    /// Whether a type has appended something else than one form of its layout.
    var isMalformed = false

    /// How much of a field is kept here: all of it in the key of a sort.
    private var sizeLimitBytes = Self.fieldSizeLimitBytes

    init() {}

    /// A form that nothing is cut off of.
    static var whole: IndexForm {
        var form = IndexForm()
        form.sizeLimitBytes = .max
        return form
    }

    /// The form that nothing is cut off of.
    package static func wholeBytes(of value: some IndexRepresentable) -> [UInt8] {
        var form = whole
        value.encode(into: &form)
        return form.bytes
    }

    init(_ value: some IndexRepresentable) { value.encode(into: &self) }

    /// Appends the form of a field's value; `layout` where what the type appends is to be looked at.
    mutating func append(field value: some IndexRepresentable, _ layout: IndexShape.Layout?) {
        guard let layout else { return value.encode(into: &self) }
        let start = bytes.count
        value.encode(into: &self)
        let end = bytes.withUnsafeBytes { layout.end(in: $0, from: start, isInverted: false)?.end }
        if end != bytes.count { isMalformed = true }
    }

    /// As `append(field:_:)`, of one field or element alone.
    init(_ value: some IndexRepresentable, _ layout: IndexShape.Layout?) {
        append(field: value, layout)
    }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Appends the form of the next field.
    mutating func append(_ field: IndexForm) {
        bytes.append(contentsOf: field.bytes)
        if field.isTruncated { isTruncated = true }
        if field.isUnequal { isUnequal = true }
        if field.isMalformed { isMalformed = true }
    }

    mutating func append(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    // MARK: Bytes of any length
    //
    // A zero is followed by 0xFF, and the end is a zero and one of the following: what is cut off
    // sorts after what ends there.

    private static let end: [UInt8] = [0, 1]
    private static let truncatedEnd: [UInt8] = [0, 2]

    mutating func append(escaping content: some Sequence<UInt8>) {
        let isCopied: Void? = content.withContiguousStorageIfAvailable { content in
            append(escaping: UnsafeRawBufferPointer(content))
        }
        if isCopied == nil { append(escaping: Array(content)) }
    }

    private mutating func append(escaping content: UnsafeRawBufferPointer) {
        let kept = UnsafeRawBufferPointer(rebasing: content.prefix(sizeLimitBytes))
        if kept.contains(0) {
            for byte in kept {
                bytes.append(byte)
                if byte == 0 { bytes.append(0xff) }
            }
        } else {
            bytes.append(contentsOf: kept)
        }
        if kept.count < content.count { isTruncated = true }
        bytes.append(contentsOf: kept.count < content.count ? Self.truncatedEnd : Self.end)
    }

    /// Appends the form of bytes whose order is turned around.
    mutating func append(inverting content: some Sequence<UInt8>) {
        let start = bytes.count
        append(escaping: content)
        invert(from: start)
    }

    /// Turns the order of what was appended since `start` around.
    mutating func invert(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }
}

/// How long the forms of a type are, and which of its values compare.
public struct IndexShape: Sendable {
    enum Layout: Sendable, Equatable {
        case fixed(Int)
        case escaped
        /// One byte, and where it is `present` the layout of the value.
        indirect case optional(Layout)
    }

    /// The first byte of an optional's form.
    static let absent: UInt8 = 1
    static let present: UInt8 = 2

    let layout: Layout
    /// What names the form: another name is another index.
    let name: String
    /// The forms of the values that `<` is told of: all from here on,
    let firstOrdered: [UInt8]
    /// up to here; `nil` where there is no end.
    let endOfOrdered: [UInt8]?

    init(
        _ layout: Layout, _ name: String, firstOrdered: [UInt8] = [], endOfOrdered: [UInt8]? = nil
    ) {
        self.layout = layout
        self.name = name
        self.firstOrdered = firstOrdered
        self.endOfOrdered = endOfOrdered
    }

    func optional() -> IndexShape {
        IndexShape(
            .optional(layout), name + "?", firstOrdered: [Self.present] + firstOrdered,
            endOfOrdered: endOfOrdered.map { [Self.present] + $0 } ?? [Self.present + 1])
    }
}

extension IndexShape.Layout {
    /// Where the form that begins at `start` ends; `nil` where the bytes are none.
    func end(in bytes: UnsafeRawBufferPointer, from start: Int, isInverted: Bool) -> (
        end: Int, isTruncated: Bool
    )? {
        let mask: UInt8 = isInverted ? 0xff : 0
        switch self {
        case .fixed(let count):
            return start + count <= bytes.count ? (start + count, false) : nil
        case .optional(let layout):
            guard start < bytes.count else { return nil }
            if bytes[start] ^ mask == IndexShape.absent { return (start + 1, false) }
            return layout.end(in: bytes, from: start + 1, isInverted: isInverted)
        case .escaped:
            var place = start
            while place + 1 < bytes.count {
                guard bytes[place] ^ mask == 0 else {
                    place += 1
                    continue
                }
                let next = bytes[place + 1] ^ mask
                if next != 0xff { return (place + 2, next == 2) }
                place += 2
            }
            return nil
        }
    }
}

/// Whether the first of two runs of bytes comes first.
func bytes(_ left: [UInt8], precede right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { compareBytes(left, $0) < 0 } }
}

/// Keys in the order of their bytes, each once.
///
/// - Parameter mayRepeat: whether some may be there several times.
func inOrder(_ keys: [[UInt8]], mayRepeat: Bool) -> [[UInt8]] {
    let keys = keys.sorted { bytes($0, precede: $1) }
    guard mayRepeat else { return keys }
    var distinct: [[UInt8]] = []
    distinct.reserveCapacity(keys.count)
    for key in keys where distinct.last != key { distinct.append(key) }
    return distinct
}
