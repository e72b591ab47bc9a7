#if Replica
    import Roost

    /// What a storage has answered that knows no conditional puts: the cause of the error that tells of it.
    struct RefusedCondition: Error, CustomStringConvertible {
        let description: String
    }

    extension RoostError {
        /// - Parameter answer: What the storage said; `nil` where it said nothing, and ignored the condition.
        static func withoutConditionalPuts(_ name: String, answer: String? = nil) -> RoostError {
            RoostError(
                .io,
                "the storage does not keep conditional puts (If-None-Match), without which two "
                    + "writers could not be kept apart",
                file: name, cause: answer.map { RefusedCondition(description: $0) })
        }

        /// Whether the storage has said that it knows no conditional puts: asked again, it says the same.
        var isOfConditionalPuts: Bool { cause is RefusedCondition }

        /// A conditional put was refused, or a list has the object, and nothing is to be had of it.
        static func refusedAndMissing(_ name: String) -> RoostError {
            RoostError(
                .io,
                "the storage says that there is such an object (412, or in its list), and then that there is none",
                file: name)
        }
    }
#endif
