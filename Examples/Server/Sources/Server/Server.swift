import Hummingbird
import Logging
import Metrics
import Roost
import RoostObservability
import RoostServices
import ServiceLifecycle

/// A service that keeps tasks, with sessions, jobs and live events, in a workspace and nowhere else.
@main
enum Server {
    static func main() async throws {
        let settings = Settings.fromEnvironment()
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        let logger = Logger(label: "server")
        let observability = WorkspaceObservability(name: "server", logger: logger)
        let workspace = try await Workspace.open(
            at: settings.dataPath,
            configuration: .init(durability: settings.durability, observer: observability))
        let tasks = workspace.repository(of: TaskItem.self)
        let finished = JobQueue<FinishedTask>(workspace, name: "finished")
        let events = EventStreams()

        let router = Router(context: BasicRequestContext.self)
        // The first is told last: it counts the statuses that clients are told.
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: StoreErrors())
        OperationsRoutes(workspace: workspace, observability: observability, registry: registry)
            .add(to: router)
        SessionRoutes(workspace: workspace, settings: settings).add(to: router)
        TaskRoutes(workspace: workspace, tasks: tasks, finished: finished, events: events)
            .add(to: router)

        let server = Application(
            router: router,
            configuration: .init(address: .hostname(settings.host, port: settings.port)),
            logger: logger)
        // The last is shut down first: no more requests, then no more jobs, then the workspace.
        let services: [any Service] = [
            workspace, FinishedTask.worker(finished, workspace, logger), server, events,
        ]
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = settings.grace
        try await ServiceGroup(configuration: group).run()
    }
}
