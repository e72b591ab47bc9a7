import CRoost

/// A page of memory that a workspace's writer shares with those that read beside it, in other processes
/// too: how far the writer is, and two words to wait for. docs/decisions/0102.
///
/// - Nothing stored rests on it. What is in it says where a look is worth while; a reader believes the
///   log and the manifest alone, but for `durableSequence`, which a writer sets before it takes the lock.
/// - The writer holds the lock of the file for as long as it is open: so readers know that there is one.
/// - A reader that may not write to the file cannot say that it waits, and looks now and then.
package final class SignalPage: Sendable {
    /// In bytes from the page's begin; words on lines of their own, as different threads write them.
    private enum Offset {
        static let magic = 0
        static let version = 8
        static let openings = 64
        static let sequence = 72
        static let durableSequence = 80
        static let segment = 88
        static let generation = 96
        static let news = 128
        static let requests = 192
    }

    private static let magic: UInt64 = 0x4749_5354_534f_4f52  // "ROOSTSIG"
    private static let version: UInt64 = 1
    package static let sizeBytes = 4096

    private let file: any File
    private let region: MappedRegion
    private let isWritable: Bool

    private init(file: any File, region: MappedRegion, isWritable: Bool) {
        self.file = file
        self.region = region
        self.isWritable = isWritable
    }

    // MARK: Opening

    /// The writer's; the file is made where there is none. `nil` where files cannot be mapped so that
    /// others see it.
    package static func forWriter(_ name: String, in directory: any Directory) throws -> SignalPage?
    {
        if case .unknown = try directory.sharing { return nil }
        let file: any File
        do { file = try directory.openFile(name, writable: true) } catch {
            // Mostly there is none yet; else this says why not. Opened once more: what is made is mapped
            // for writing only where its blocks stay in place.
            _ = try directory.createFile(name)
            file = try directory.openFile(name, writable: true)
        }
        if try file.sizeBytes() != UInt64(sizeBytes) {
            // Written rather than sized, so that no store finds the disk full.
            let zeros = [UInt8](repeating: 0, count: sizeBytes)
            try file.truncate(to: 0)
            try zeros.withUnsafeBytes { try file.write($0, at: 0) }
        }
        guard let region = try file.map(sizeBytes: sizeBytes, writable: true) else { return nil }
        let page = SignalPage(file: file, region: region, isWritable: true)
        page.store(Self.magic, Offset.magic)
        page.store(Self.version, Offset.version)
        return page
    }

    /// A reader's; `nil` where no writer has made one yet.
    package static func forReader(_ name: String, in directory: any Directory) throws -> SignalPage?
    {
        guard try directory.entries().contains(where: { $0.name == name }) else { return nil }
        var isWritable = true
        let file: any File
        do { file = try directory.openFile(name, writable: true) } catch {
            // May not be written to, or is gone since.
            file = try directory.openFile(name, writable: false)
            isWritable = false
        }
        guard try file.sizeBytes() == UInt64(sizeBytes),
            let region = try file.map(sizeBytes: sizeBytes, writable: isWritable)
        else { return nil }
        let page = SignalPage(file: file, region: region, isWritable: isWritable)
        guard page.load(Offset.magic) == Self.magic, page.load(Offset.version) == Self.version
        else { return nil }
        return page
    }

    // MARK: Who is there

    /// Says that there is a writer, until `releaseWriterLock` or the process's end: before it changes
    /// anything. How far it is it does not know yet.
    package func holdWriterLock() throws {
        segmentNumber = 0
        sequence = 0
        durableSequence = 0
        store(load(Offset.openings) &+ 1, Offset.openings)
        try file.holdLock()
    }

    package func releaseWriterLock() throws { try file.releaseLock() }

    package var isWriterOpen: Bool { get throws { try file.isLocked() } }

    /// How often a writer has opened the workspace.
    package var openingCount: UInt64 { load(Offset.openings) }

    // MARK: How far the writer is

    /// A batch that was in the log when the writer last told.
    package var sequence: UInt64 {
        get { load(Offset.sequence) }
        set { store(newValue, Offset.sequence) }
    }

    /// Every batch up to this one is on disk.
    package var durableSequence: UInt64 {
        get { load(Offset.durableSequence) }
        set { store(newValue, Offset.durableSequence) }
    }

    /// The segment that the writer appends to; zero before it has begun to. Set once the rest is.
    package var segmentNumber: UInt64 {
        get { load(Offset.segment) }
        set { store(newValue, Offset.segment) }
    }

    /// The newest manifest's.
    package var manifestGeneration: UInt64 {
        get { load(Offset.generation) }
        set { store(newValue, Offset.generation) }
    }

    /// Whether a batch that somebody waits for, which was found in the log before this is asked, is on its
    /// way to the disk: a writer says how far it is before it appends anything. What stood in the log
    /// before it came is on disk when it says so, or nobody will bring it there.
    package func isAwaited(_ batch: UInt64) throws -> Bool {
        try isWriterOpen && segmentNumber != 0 && durableSequence < batch
    }

    // MARK: Waiting

    /// Goes up when there is something new.
    package var newsCount: UInt32 { roost_load_word(word(Offset.news)) }

    /// Lets readers look.
    package func tellNews() {
        guard isWritable else { return }
        roost_increment_word(word(Offset.news))
        roost_wake_word(word(Offset.news))
    }

    /// Lets the readers that wait at this moment look, and changes nothing.
    package func wakeReaders() { roost_wake_word(word(Offset.news)) }

    /// Blocks until there is more news than `count`, or for `nanoseconds`, and now and then for no reason.
    package func waitForNews(after count: UInt32, nanoseconds: UInt64) {
        roost_wait_for_word(word(Offset.news), count, nanoseconds)
    }

    /// Goes up when a reader has seen all and waits for more.
    package var requestCount: UInt32 { roost_load_word(word(Offset.requests)) }

    /// Asks the writer to tell of the next batch; `false` where that cannot be asked for.
    package func request() -> Bool {
        guard isWritable else { return false }
        roost_increment_word(word(Offset.requests))
        roost_wake_word(word(Offset.requests))
        return true
    }

    /// As `waitForNews`, for the writer.
    package func waitForRequest(after count: UInt32, nanoseconds: UInt64) {
        roost_wait_for_word(word(Offset.requests), count, nanoseconds)
    }

    /// Lets the thread of this process go on that waits for requests.
    package func stopWaitingForRequests() {
        roost_increment_word(word(Offset.requests))
        roost_wake_word(word(Offset.requests))
    }

    // MARK: Memory

    private func word(_ offset: Int) -> UnsafeMutablePointer<UInt32> {
        (region.base + offset).assumingMemoryBound(to: UInt32.self)
    }

    private func number(_ offset: Int) -> UnsafeMutablePointer<UInt64> {
        (region.base + offset).assumingMemoryBound(to: UInt64.self)
    }

    private func load(_ offset: Int) -> UInt64 { roost_load_number(number(offset)) }
    private func store(_ value: UInt64, _ offset: Int) { roost_store_number(number(offset), value) }
}
