import Hummingbird
import Roost
import RoostEtcd
import RoostShared

/// One of several processes of a service, which share what they keep over etcd.
@main
enum Fleet {
    static func main() async throws {
        let settings = try Settings(CommandLine.arguments)
        let workspace = try await SharedWorkspace.connect(
            to: .etcd(endpoints: settings.endpoints), namespace: settings.namespace)
        // What is followed is kept beside the process; in memory, as it is small and soon loaded.
        let local = try await Workspace.inMemory()
        let flags = Flags(workspace, try await workspace.follow("flags", in: local))
        let leader = Leader(workspace, name: settings.name)
        let jobs = Jobs(workspace, worker: settings.name)

        let router = Router()
        router.get("health") { _, _ in settings.name }
        Sessions(workspace).add(to: router)
        flags.add(to: router)
        RateLimit(workspace).add(to: router)
        leader.add(to: router)
        jobs.add(to: router)

        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: settings.port)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await leader.run() }
            group.addTask { await jobs.run() }
            group.addTask { try await application.runService() }
            // The application ends at a signal, and all with it.
            try await group.next()
            group.cancelAll()
        }
        await workspace.close()
        try await local.close()
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
