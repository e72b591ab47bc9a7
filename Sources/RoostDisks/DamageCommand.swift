import ArgumentParser
import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Synchronization

/// Cuts files of an open store, or makes blocks of them unreadable, while one task reads and one writes.
struct DamageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "damage")

    @Argument(help: "An empty directory.") var directory: String
    @Option var cases = 1000
    @Option var seed: UInt64 = 1
    @Option(help: "The image of the btrfs that the directory is on: its blocks are changed there.")
    var image: String?

    func run() async throws {
        var tally = DamageTally()
        for number in 0..<cases {
            var trial = DamageTrial(
                path: "\(directory)/store-\(number)", image: image, seed: seed &+ UInt64(number))
            do { try await trial.run(&tally) } catch {
                tally.broken.append("seed \(seed &+ UInt64(number)): \(error)")
            }
            try FileManager.default.removeItem(atPath: "\(directory)/store-\(number)")
        }
        if let omission = tally.omission(of: cases) { tally.broken.append(omission) }
        try report(
            [
                "cases": cases, "damaged": tally.damagedCount, "errors": tally.errorCount,
                "read": tally.readCount, "looks": tally.lookCount, "written": tally.writtenCount,
                "seed": seed,
                "refusedOpenings": tally.refusedCount,
            ], broken: tally.broken)
    }
}

struct DamageTally: Sendable {
    var damagedCount = 0
    var errorCount = 0
    var readCount = 0
    /// Looks at many keys, and at one in other ways than by a plain read, that gave all that there is.
    var lookCount = 0
    var writtenCount = 0
    var refusedCount = 0
    var broken: [String] = []

    /// What so many cases did not try; `nil` where there is nothing. Of cases with an image three of four are damaged:
    /// files of less than a page have no block, and blocks of zeros are let be.
    func omission(of cases: Int) -> String? {
        guard cases >= 20 else { return nil }
        if damagedCount * 3 < cases { return "of \(cases) cases \(damagedCount) were damaged" }
        return errorCount + refusedCount == 0 ? "no error was ever met" : nil
    }
}

/// What both tasks of a trial count.
final class SharedTally: Sendable {
    let tally = Mutex(DamageTally())
}

struct DamageTrial {
    let path: String
    let image: String?
    var random: SeededGenerator
    let seed: UInt64
    static let keyCount = 300

    init(path: String, image: String?, seed: UInt64) {
        self.path = path
        self.image = image
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    func newestValue(_ number: Int) -> [UInt8] {
        value(number, number < Self.keyCount / 2 ? 2 : 1)
    }

    private func value(_ number: Int, _ version: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number * 100 + version))
        return generator.bytes(600)
    }

    mutating func run(_ tally: inout DamageTally) async throws {
        var workspace = try await open()
        for number in 0..<Self.keyCount { try await put(workspace, number, 1) }
        try await workspace.compact()
        for number in 0..<Self.keyCount / 2 { try await put(workspace, number, 2) }
        if image != nil {
            // Blocks are read anew: the pages of what is mapped would stay in memory.
            try await workspace.close()
            guard try damageBlock() else { return }
            do { workspace = try await open() } catch let error as RoostError {
                guard error.code == .io || error.code == .corrupt, error.file != nil else {
                    throw error
                }
                tally.damagedCount += 1
                tally.refusedCount += 1
                return
            }
        }
        let opened = workspace
        let found = SharedTally()
        let base = self
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 0..<2 {
                    for number in 0..<Self.keyCount {
                        base.read(opened, number, found)
                        if (number + round) % 40 == 0 {
                            await base.look(opened, number, found)
                            await Task.yield()
                        }
                    }
                }
            }
            group.addTask {
                for number in 0..<200 {
                    do {
                        try await opened.dictionary("new").set(
                            [UInt8](repeating: UInt8(number), count: 900), forKey: "\(number)")
                        found.tally.withLock { $0.writtenCount += 1 }
                    } catch let error as RoostError {
                        base.judge(error, "a write", found)
                    }
                }
            }
            if image == nil { try cutAFile() }
            try await group.waitForAll()
        }
        let damaged = found.tally.withLock { $0 }
        tally.damagedCount += 1
        tally.errorCount += damaged.errorCount
        tally.readCount += damaged.readCount
        tally.lookCount += damaged.lookCount
        tally.writtenCount += damaged.writtenCount
        tally.broken += damaged.broken
        // May say that not all could be brought to disk.
        do { try await opened.close() } catch is RoostError {}
    }

    private func open() async throws -> Workspace {
        try await Workspace.open(
            at: path,
            configuration: .init(shardCount: 2, durability: .process, memoryBudgetBytes: 0))
    }

    private func put(_ workspace: Workspace, _ number: Int, _ version: Int) async throws {
        try await workspace.dictionary("old").set(value(number, version), forKey: "\(number)")
    }

    private func read(_ workspace: Workspace, _ number: Int, _ found: SharedTally) {
        do {
            let read = try workspace.dictionary("old").value(forKey: "\(number)", as: [UInt8].self)
            let isRight = read == newestValue(number)
            found.tally.withLock { found in
                found.readCount += 1
                if !isRight { found.broken.append("seed \(seed): key \(number) reads as another") }
            }
        } catch let error as RoostError {
            judge(error, "key \(number)", found)
        } catch { found.tally.withLock { $0.broken.append("seed \(seed): \(error)") } }
    }

    func judge(_ error: RoostError, _ what: String, _ found: SharedTally) {
        let isClear =
            [.io, .corrupt, .poisoned].contains(error.code) && error.file != nil
            && (error.offset != nil || error.code == .poisoned || what == "a write")
        found.tally.withLock { found in
            found.errorCount += 1
            if !isClear { found.broken.append("seed \(seed): \(what): \(error)") }
        }
    }

    /// Cuts one of the files somewhere; a log only between pages, as a cut within one is a write of
    /// zeros to the rest of it.
    private mutating func cutAFile() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            .filter { $0.hasPrefix("log") || $0.hasPrefix("snapshot") }
        let name = names[random.below(names.count)]
        let size = Int(
            try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.size] as? UInt64
                ?? 0)
        var offset = random.below(min(size, 400_000) + 1)
        if name.hasPrefix("log") { offset &= ~4095 }
        guard truncate("\(path)/\(name)", off_t(offset)) == 0 else { throw POSIXError(.EIO) }
    }

    /// Changes a block of one of the files where it stands in the image, so that the file system's own
    /// checksum fails and the kernel gives EIO; `false` where the block is not found, or holds nothing.
    private mutating func damageBlock() throws -> Bool {
        guard let image else { return false }
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        let name = names[random.below(names.count)]
        sync()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
        let pageCount = bytes.count / 4096
        guard pageCount > 0 else { return false }
        let page = random.below(pageCount)
        let wanted = bytes[(page * 4096)..<((page + 1) * 4096)]
        guard wanted.contains(where: { $0 != 0 }) else { return false }
        let disk = try Data(contentsOf: URL(fileURLWithPath: image), options: .alwaysMapped)
        var place: Int?
        var from = disk.startIndex
        while let found = disk.range(of: wanted.prefix(64), in: from..<disk.endIndex) {
            if found.lowerBound % 4096 == 0,
                disk[found.lowerBound..<(found.lowerBound + 4096)].elementsEqual(wanted)
            {
                place = found.lowerBound
            }
            from = found.lowerBound + 64
        }
        guard let place else { return false }
        let descriptor = Glibc.open(image, O_WRONLY)
        guard descriptor >= 0 else { throw BrokenPromise("\(image) cannot be written: \(errno)") }
        defer { close(descriptor) }
        let junk = random.bytes(64)
        guard pwrite(descriptor, junk, 64, off_t(place + 100)) == 64, fsync(descriptor) == 0 else {
            throw BrokenPromise("\(image) cannot be written: \(errno)")
        }
        // Else the block would be read from memory, as it was.
        let pages = FileHandle(forWritingAtPath: "/proc/sys/vm/drop_caches")
        guard let pages else { throw BrokenPromise("the kernel's pages cannot be dropped") }
        try pages.write(contentsOf: Data("1\n".utf8))
        try pages.close()
        return true
    }
}
