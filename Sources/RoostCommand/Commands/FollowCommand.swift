import ArgumentParser
import Foundation
import Roost

#if Replica
    import RoostReplica
#endif

/// `roost follow`: a standby of what a `Replica` copies.
struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Keeps a directory as a copy is, and has it take the writer's place.",
        discussion: """
            COPY is what a Replica copies to, as roost restore takes it. TARGET is a new directory, which is restored \
            first, or one that followed this copy before. Beside it other commands, and programs that open it \
            read-only, see what is copied some moments later. A line is written at the begin and where the storage stops \
            to answer and answers again. Ends when it is interrupted; the same command goes on then.

            Exit status 5 where nothing more can be followed, as the copy began a new history or has removed what would \
            have come next: follow in a new directory. So too where the copy is not complete yet. Exit status 3 where an \
            entry of it is damaged.

            With --promote it takes the writer's place and ends: whoever copied before does so no more, TARGET has all \
            that was copied, and is opened for writing from then on. A Replica of it to the same place goes on with the \
            copy, which other standbys follow on, where its log still has the last batch that was copied. See to it that nothing starts the old writer again: it would take the \
            place back, with what it has.
            """)

    @Argument(help: "s3://bucket/prefix or file:///path.") var copy: String
    @Argument(
        help: "The directory, which is new or has followed this copy before.",
        completion: .directory)
    var target: String
    @Flag(help: "Take the writer's place, and end.") var promote = false
    @Option(help: "How often the storage is asked, in seconds.") var interval = 1.0
    @OptionGroup var encryption: EncryptionOptions
    @OptionGroup var files: RestoredFilesOptions

    func validate() throws {
        guard let place = CopiedPlace(copy) else {
            throw ValidationError(
                "not the address of a copy, s3://bucket/prefix or file:///path: \(copy)")
        }
        try place.check()
        try refuseAddress(target)
        guard !target.isEmpty else { throw ValidationError("an empty path names no directory") }
        guard (0.1...86_400).contains(interval) else {
            throw ValidationError("--interval is at least 0.1 and at most a day, of 86400 seconds")
        }
    }

    func run() async throws {
        guard let place = CopiedPlace(copy) else { throw Failure(.usage, nil) }
        try await place.follow(
            in: target, every: interval, promotes: promote, try files.keys(ofCopy: encryption))
    }
}

extension CopiedPlace {
    #if Replica
        /// Follows until the process ends, or the copy can be followed no more; with `promotes` takes the writer's place.
        func follow(
            in target: String, every seconds: Double, promotes: Bool, _ keys: Keys
        ) async throws {
            let configuration = Workspace.Configuration(
                encryption: keys.isPlain ? nil : keys.target ?? keys.copy)
            let follower = try await LiveProgress.show("restoring") { _ in
                try await naming {
                    try await Follower.follow(
                        try storage(), encryption: keys.copy, at: target,
                        configuration: configuration, interval: .seconds(seconds))
                }
            }
            do {
                if promotes {
                    try await naming { try await promote(follower, target) }
                } else {
                    try await tell(of: follower)
                }
            } catch {
                // What ended it says more than a failure to close after it.
                do { try await follower.close() } catch {
                    printError("closing failed too: \(error)")
                }
                throw error
            }
            try await follower.close()
        }

        private func promote(_ follower: Follower, _ target: String) async throws {
            let replica = try await follower.promote()
            try Output.write([
                "\(target) has taken the writer's place, at batch \(follower.workspace.statistics.lastSequence)"
            ])
            do { try await replica.stop(within: .seconds(60)) } catch let error as RoostError {
                throw RoostError(
                    error.code,
                    "\(target) is for writing now, but what copies it could not end: \(error.message)",
                    file: error.file, cause: error.cause)
            }
        }

        private static let lookInterval = Duration.milliseconds(500)

        private func tell(of follower: Follower) async throws {
            func write(_ text: String) throws {
                let status = follower.status
                let moment = status.moment.map { ", of \(MomentText.text($0))" } ?? ""
                try Output.write(["\(text) batch \(status.lastSequence)\(moment)"])
            }
            try write("following \(address), at")
            var told: RoostError.Code?
            while true {
                let status = follower.status
                if let failure = status.failure { throw failure }
                if let trouble = status.trouble {
                    if trouble.code != told { printError("\(trouble)") }
                } else if told != nil {
                    try write("goes on, at")
                }
                told = status.trouble?.code
                try await Task.sleep(for: Self.lookInterval)
            }
        }
    #else
        func follow(
            in target: String, every seconds: Double, promotes: Bool, _ keys: Keys
        ) async throws { throw Self.isNotBuilt }
    #endif
}
