import Foundation
import Roost
import RoostTestSupport
import Synchronization
import Testing

/// A reader whose next batch is gone or damaged, though the log goes on behind it.
@Suite(.timeLimit(.minutes(5))) struct LostSegmentTests {
    private let readOnly = Workspace.Configuration(access: .readOnly)

    private enum Loss: CaseIterable { case gone, damaged }

    /// The story: of a log's segments that were copied beside a reader one after the other, the first was left
    /// out, or is not what it was.
    @Test(arguments: Loss.allCases)
    private func whoAsksForTheNewestIsToldThatABatchIsLost(_ loss: Loss) async throws {
        try await withTemporaryDirectory { path in
            let (live, copy) = ("\(path)/live", "\(path)/copy")
            try await write(1, to: live)
            try copyDirectory(live, to: copy)
            let before = try fileNames(in: live, prefix: "log-")
            let reader = try await Workspace.open(at: copy, configuration: readOnly)
            let read = reader.dictionary("values")
            #expect(try read["a", as: Int.self] == 1)
            try await write(2, to: live)
            let between = try fileNames(in: live, prefix: "log-")
            try await write(3, to: live)
            let lost = try #require(between.first { !before.contains($0) })
            let next = try #require(
                fileNames(in: live, prefix: "log-").first { !between.contains($0) })
            if case .damaged = loss {
                var bytes = try readBytes("\(live)/\(lost)")
                // Behind the segment's header: in the first frame.
                bytes[64 + 40] ^= 1
                try writeBytes(bytes, to: "\(copy)/\(lost)")
            }
            try FileManager.default.copyItem(
                atPath: "\(live)/\(next)", toPath: "\(copy)/\(next)")
            // Who is never answered is answered by the end.
            let watchdog = Task {
                try await Task.sleep(for: .seconds(60))
                try await reader.close()
            }
            await #expect {
                while true { try await reader.catchUp() }
            } throws: { ($0 as? RoostError)?.code == .corrupt }
            watchdog.cancel()
            // Nothing older is shown for the newest.
            #expect { _ = try read["a", as: Int.self] } throws: {
                ($0 as? RoostError)?.code == .corrupt
            }
            try await reader.close()
        }
    }

    private func write(_ number: Int, to path: String) async throws {
        let writer = try await Workspace.open(at: path)
        try await writer.dictionary("values").set(number, forKey: "a")
        try await writer.close()
    }
}
