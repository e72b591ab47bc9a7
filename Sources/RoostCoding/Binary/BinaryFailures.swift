import RoostIO

/// The errors of the binary form. Built out of line: they are rare, and their text is long.
extension BinaryReader {
    @usableFromInline @inline(never)
    func failure(_ message: String) -> RoostError {
        RoostError(.decodingFailed, "\(owner): \(message)")
    }

    @usableFromInline @inline(never)
    func cutShort() -> RoostError { failure("the bytes end inside a value") }

    @usableFromInline @inline(never)
    func doesNotFit() -> RoostError { failure("a number does not fit its type") }

    @usableFromInline @inline(never)
    func tooDeep() -> RoostError {
        failure("values are nested deeper than \(BinaryLimits.depth) levels")
    }

    @usableFromInline @inline(never)
    func missingField(_ number: Int, _ type: Any.Type) -> RoostError {
        failure("field \(number) (\(type)) is missing and has no default")
    }

    @usableFromInline @inline(never)
    func wrongWireType(_ number: Int, found: UInt64, wanted: UInt64) -> RoostError {
        failure("field \(number) has wire type \(found) where its type needs \(wanted)")
    }

    /// The error for a case number that the type does not know, for use in `init(from:)`.
    public func unknownCase(_ number: Int) -> RoostError {
        failure("there is no case number \(number)")
    }

    /// An error for a value that is well formed and yet not acceptable, for use in
    /// `init(from:)`.
    public func invalidValue(_ message: String) -> RoostError { failure(message) }
}

@usableFromInline @inline(never)
func encodingTooDeep(_ type: Any.Type) -> RoostError {
    RoostError(
        .encodingFailed, "\(type): values are nested deeper than \(BinaryLimits.depth) levels")
}

@usableFromInline @inline(never)
func encodingRefused(_ type: Any.Type) -> RoostError {
    RoostError(.encodingFailed, "\(type): a value inside cannot be encoded")
}
