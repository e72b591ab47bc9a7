import Roost
import RoostIO
import RoostShared

extension ConformanceCheck where Workspace == SharedWorkspace {
    /// What those who follow a dictionary beside their process are promised.
    static var followChecks: [ConformanceCheck] {
        [FollowLoading.whole, .byKey].map { loading in
            ConformanceCheck(
                "who follows \(loading == .whole ? "a dictionary" : "keys") reaches each revision, with all before it"
            ) { context in
                let local = try await Roost.Workspace.inMemory()
                let values = context.dictionary("followed", of: 1)
                try await values.set(-1, forKey: "k0")
                let followed = try await context.workspace.follow(
                    values.name, in: local, loading: loading)
                for key in 0..<4 { _ = try await followed.load("k\(key)", as: Int.self) }
                do {
                    try await reachEach(followed, values, context)
                } catch {
                    await followed.close()
                    try await local.close()
                    throw error
                }
                await followed.close()
                try await local.close()
            }
        }
    }

    /// Changes a dictionary and another one by turns: what the engine tells of the other one is not told to who follows.
    private static func reachEach(
        _ followed: FollowedDictionary, _ values: SharedDictionary,
        _ context: ConformanceContext<SharedWorkspace>
    ) async throws {
        let other = context.dictionary("followed-not")
        for number in 0..<(12 * context.effort) {
            let key = "k\(number % 4)"
            if number % 5 == 4 {
                try await values.removeValue(forKey: key)
            } else {
                try await values.set(number, forKey: key)
            }
            if number % 3 != 0 { try await other.set(number, forKey: key) }
            let revision = try await context.workspaces[1].revision
            try await followed.reached(revision, within: context.patience)
            try require(
                followed.revision >= revision,
                "reads are of \(followed.revision), not of \(revision)")
            try requireEqual(
                try followed.value(forKey: key, as: Int.self), number % 5 == 4 ? nil : number,
                "\(key) at step \(number)")
        }
    }
}
