import Foundation
import RoostIO
import RoostTestSupport
import Testing

/// The page that a writer and its readers share.
@Suite struct SignalPageTests {
    private func directory(_ path: String) throws -> any Directory {
        try PosixFileSystem().openDirectory(at: path, create: false)
    }

    @Test func aReaderSeesWhatTheWriterSaysAndWhetherItIsThere() async throws {
        try await withTemporaryDirectory { path in
            let directory = try directory(path)
            #expect(try SignalPage.forReader("SIGNALS", in: directory) == nil)
            let writer = try #require(try SignalPage.forWriter("SIGNALS", in: directory))
            let reader = try #require(try SignalPage.forReader("SIGNALS", in: directory))
            #expect(try !reader.isWriterOpen)
            try writer.holdWriterLock()
            #expect(try reader.isWriterOpen)
            #expect(reader.openingCount == 1)
            writer.sequence = 7
            writer.durableSequence = 5
            writer.segmentNumber = 3
            writer.manifestGeneration = 2
            #expect(reader.sequence == 7)
            #expect(reader.durableSequence == 5)
            #expect(reader.segmentNumber == 3)
            #expect(reader.manifestGeneration == 2)
            // To look and to close takes nothing from the writer.
            _ = try SignalPage.forReader("SIGNALS", in: directory)?.isWriterOpen
            #expect(try reader.isWriterOpen)
            try writer.releaseWriterLock()
            #expect(try !reader.isWriterOpen)
            let next = try #require(try SignalPage.forWriter("SIGNALS", in: directory))
            try next.holdWriterLock()
            #expect(reader.openingCount == 2)
            // What the last one said counts no more.
            #expect(reader.durableSequence == 0)
            #expect(throws: RoostError.self) { try writer.holdWriterLock() }
        }
    }

    @Test func whoWaitsIsWokenByNewsAndByTheTime() async throws {
        try await withTemporaryDirectory { path in
            let directory = try directory(path)
            let writer = try #require(try SignalPage.forWriter("SIGNALS", in: directory))
            let reader = try #require(try SignalPage.forReader("SIGNALS", in: directory))
            let news = reader.newsCount
            let requests = writer.requestCount
            let waiting = Thread {
                #expect(reader.request())
                while reader.newsCount == news {
                    reader.waitForNews(after: news, nanoseconds: 60_000_000_000)
                }
                writer.sequence = 1
            }
            waiting.start()
            while writer.requestCount == requests {
                writer.waitForRequest(after: requests, nanoseconds: 60_000_000_000)
            }
            writer.tellNews()
            while writer.sequence == 0 { try await Task.sleep(for: .milliseconds(1)) }
            // Told already, and told by nobody.
            reader.waitForNews(after: news, nanoseconds: 60_000_000_000)
            reader.waitForNews(after: reader.newsCount, nanoseconds: 1_000_000)
        }
    }

    @Test func aFileThatIsNoPageIsPassedOverByReadersAndMadeOneByTheWriter() async throws {
        try await withTemporaryDirectory { path in
            let directory = try directory(path)
            try Data(repeating: 1, count: 10).write(to: URL(fileURLWithPath: "\(path)/SIGNALS"))
            #expect(try SignalPage.forReader("SIGNALS", in: directory) == nil)
            try Data(repeating: 1, count: SignalPage.sizeBytes).write(
                to: URL(fileURLWithPath: "\(path)/SIGNALS"))
            #expect(try SignalPage.forReader("SIGNALS", in: directory) == nil)
            _ = try SignalPage.forWriter("SIGNALS", in: directory)
            #expect(try SignalPage.forReader("SIGNALS", in: directory) != nil)
        }
    }

    @Test func theKindsOfFileSystemsThatShareMemoryAreKnown() async throws {
        try await withTemporaryDirectory { path in
            // Tests run on a local file system.
            #expect(try directory(path).sharing == .mapped)
            let unmapped = try PosixFileSystem(allowsMapping: false)
                .openDirectory(at: path, create: false)
            #expect(try unmapped.sharing != .mapped)
            #expect(try SignalPage.forWriter("SIGNALS", in: unmapped) == nil)
        }
    }
}
