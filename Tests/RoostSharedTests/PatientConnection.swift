import RoostShared

extension SharedWorkspace {
    /// As `connect` where no configuration is named, on machines that stand still for a while: the calls of what is no test
    /// of deadlines do not end for that.
    static func connect(
        to target: SharedTarget, namespace: String
    ) async throws -> SharedWorkspace {
        try await connect(
            to: target, namespace: namespace, configuration: .init(callDeadline: .seconds(120)))
    }
}
