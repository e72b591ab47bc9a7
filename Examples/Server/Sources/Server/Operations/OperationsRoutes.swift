import Hummingbird
import Roost
import RoostObservability

/// For those who run the service: is it alive, does it take requests, and what does it do.
struct OperationsRoutes {
    let workspace: Workspace
    let observability: WorkspaceObservability
    let registry: PrometheusRegistry

    func add(to router: Router<some RequestContext>) {
        router.get("health") { _, _ in "alive\n" }
        // Load balancers look with HEAD. Routes that the router makes of those of GET would be counted as active
        // for ever by the metrics' middleware.
        router.head("health") { _, _ in Response(status: .ok) }
        // A write tells what no look can: a full disk, a poisoned workspace.
        router.get("ready") { _, _ in
            try await workspace.dictionary("operations").set("ready", forKey: "probe")
            return "ready\n"
        }
        router.get("metrics") { _, _ in
            observability.collect(workspace.statistics)
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: .init(string: registry.text())))
        }
    }
}
