#if Inspector
    import NIOPosix
    import Roost
    import RoostForms

    /// What a workspace took, second by second, for the last quarter of an hour.
    actor StorageHistory {
        private let workspace: Workspace
        private var samples: [StorageLook] = []
        private static let capacity = 900
        private static let pause = Duration.seconds(1)

        init(_ workspace: Workspace) { self.workspace = workspace }

        /// Takes samples until the task is cancelled.
        func run() async {
            while !Task.isCancelled {
                await takeSample()
                do { try await Task.sleep(for: Self.pause) } catch { return }
            }
        }

        var json: JSONValue {
            get async {
                if samples.isEmpty { await takeSample() }
                return .members(["samples": .array(samples.map(\.json))])
            }
        }

        private func takeSample() async {
            let workspace = workspace
            do {
                let sample = try await NIOThreadPool.singleton.runIfActive {
                    try StorageLook(workspace)
                }
                samples.append(sample)
                if samples.count > Self.capacity { samples.removeFirst() }
            } catch {
                // A directory that cannot be listed now leaves a gap; the other pages say why.
            }
        }
    }
#endif
