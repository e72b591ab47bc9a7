import Hummingbird
import RoostShared

/// Settings that are read at each request and seldom changed: each process follows the dictionary, and reads it
/// without asking anybody.
struct Flags {
    private let shared: SharedDictionary
    private let followed: FollowedDictionary

    init(_ workspace: SharedWorkspace, _ followed: FollowedDictionary) {
        shared = workspace.dictionary("flags")
        self.followed = followed
    }

    func add(to router: Router<some RequestContext>) {
        router.put("flags/:name/:value") { _, context in
            try await shared.set(
                try context.plain("value"), forKey: try context.plain("name"))
            return HTTPResponse.Status.noContent
        }
        router.get("flags/:name") { _, context in
            // Does not suspend: the value is beside the process.
            try followed[try context.plain("name"), default: "off"]
        }
    }
}
