import RoostFormat

extension FoundValue {
    /// When the value expires.
    package var deadline: Deadline {
        if let resident { return resident.deadline }
        // The owner keeps the bytes in place.
        return withExtendedLifetime(owner) { ValueHeader(bytes)?.deadline ?? .never }
    }
}
