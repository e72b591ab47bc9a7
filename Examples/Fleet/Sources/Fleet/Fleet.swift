import Hummingbird
import Logging
import Roost
import RoostEtcd
import RoostServices
import RoostShared
import ServiceLifecycle

/// One of several processes of a service, which share what they keep over etcd.
@main
enum Fleet {
    static func main() async throws {
        let settings = try Settings(CommandLine.arguments)
        let logger = Logger(label: settings.name)
        let workspace = try await SharedWorkspace.connect(
            to: .etcd(endpoints: settings.endpoints), namespace: settings.namespace)
        // What is followed is kept beside the process; in memory, as it is small and soon loaded.
        let local = try await Workspace.inMemory()
        let flags = Flags(workspace, try await workspace.follow("flags", in: local))
        let ledger = Ledger(workspace, name: settings.name, logger: logger)
        let jobs = Jobs(workspace, logger: logger)

        let router = Router()
        router.get("health") { _, _ in settings.name }
        Sessions(workspace).add(to: router)
        flags.add(to: router)
        RateLimit(workspace).add(to: router)
        ledger.add(to: router)
        jobs.add(to: router)

        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: settings.port)),
            logger: logger)
        // The last is shut down first: no more requests, then no more jobs, and the lead given back.
        let services: [any Service] = [
            workspace, local, ledger.leadership, jobs.worker, application,
        ]
        try await ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}

/// `Fleet NAME PORT NAMESPACE ENDPOINT[,ENDPOINT…]`
struct Settings {
    var name: String
    var port: Int
    var namespace: String
    var endpoints: [String]

    struct Usage: Error {}

    init(_ arguments: [String]) throws {
        guard arguments.count == 5, let port = Int(arguments[2]) else { throw Usage() }
        name = arguments[1]
        self.port = port
        namespace = arguments[3]
        endpoints = arguments[4].split(separator: ",").map(String.init)
    }
}
