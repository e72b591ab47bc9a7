/// A store whose queries tell what changes in them.
protocol LiveObjectEngine: ObjectEngine {
    associatedtype Watch: Sendable

    /// Whether a commit looks at no query that it does not touch. Where every commit has every query read
    /// anew, 2,000 of them beside 1,000 queries take longer than the rest together.
    static var tellsWhatIsTouched: Bool { get }

    /// Tells an object as it is, and then each newer one, until the watch goes.
    func watchObject(_ id: Int, _ told: @escaping @Sendable (Post) -> Void) throws -> Watch
    /// Tells the objects of a range, and then each newer result, until the watch goes.
    func watch(
        prioritized range: Range<Int>, _ told: @escaping @Sendable ([Post]) -> Void
    ) throws -> Watch
    func end(_ watches: [Watch]) async
    /// Changes all these objects in one transaction.
    nonisolated(nonsending) func changeAll(
        _ ids: Range<Int>, _ body: @escaping @Sendable (inout Post) -> Void
    ) async throws
}
