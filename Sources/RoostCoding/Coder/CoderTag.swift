/// The first byte of every value that `RoostCoder` writes. On disk: never renumber.
///
/// Zero is not a value, and neither is any number that is not named here. docs/FORMAT-values.md
/// says what follows each.
enum CoderTag {
    static let null: UInt8 = 0x01
    /// An optional property that holds `nil` and was left out; keeps the shape of the object.
    static let absent: UInt8 = 0x02
    static let no: UInt8 = 0x03
    static let yes: UInt8 = 0x04
    static let float32: UInt8 = 0x05
    static let float64: UInt8 = 0x06
    static let positive: UInt8 = 0x07
    static let negative: UInt8 = 0x08
    static let string: UInt8 = 0x09
    static let bytes: UInt8 = 0x0a
    static let date: UInt8 = 0x0b
    static let uuid: UInt8 = 0x0c
    static let decimal: UInt8 = 0x0d
    static let url: UInt8 = 0x0e
    static let array: UInt8 = 0x0f
    static let object: UInt8 = 0x10
    static let map: UInt8 = 0x11
    /// A floating-point number without a fraction.
    static let whole: UInt8 = 0x12
    /// A floating-point number with at most two decimals.
    static let hundredths: UInt8 = 0x13
    /// A date without a fraction of a second.
    static let wholeDate: UInt8 = 0x14
    /// A string in the codes of `TextCodec`.
    static let text: UInt8 = 0x15
    /// The first byte of a message whose value is an object of its last shape, and so needs
    /// neither tag nor length. No value inside a message has this tag.
    static let rootObject: UInt8 = 0x16
    /// An object of one of the first shapes, whose number is in the tag.
    static let shortObject: UInt8 = 0x18
    static let shortObjectLimit = 0x08
    /// A string of 0 to 31 bytes, whose length is in the tag.
    static let shortString: UInt8 = 0x20
    static let shortStringLimit = 0x20
    /// A string in 0 to 31 codes, whose number is in the tag.
    static let shortText: UInt8 = 0x40
    /// -1 to -32, counted downwards.
    static let smallNegative: UInt8 = 0x60
    static let smallNegativeLimit = 0x20
    /// 0 to 127.
    static let smallPositive: UInt8 = 0x80
}

/// Limits of what `RoostCoder` writes and reads.
enum CoderLimits {
    /// Values inside one another. Decoding uses the native stack for each.
    static let depth = 256
    /// The first byte of a message whose value is of any kind. The other is
    /// `CoderTag.rootObject`.
    static let version: UInt8 = 2
    /// Sessions that wait for the next message, for each direction.
    static let idleCount = 16
    /// A buffer or a table larger than this is not kept for the next message.
    static let keptSizeBytes = 1 << 16
}
