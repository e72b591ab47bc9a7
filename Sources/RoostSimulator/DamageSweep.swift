import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

/// Small stores of every kind of file, each damaged in every place: a bit flipped, the file cut,
/// the file gone.
///
/// What an opening and the reads of every key may then give: the right value, an error that says
/// damage, or a log that is declared torn and everything as it was before the tear. Never an
/// older value, a wrong one, or one that was removed; nor is a log declared torn before a batch of which
/// what is left says that it was on disk.
package enum DamageSweep {
    package enum Damage: Sendable, CustomStringConvertible {
        case flip(offset: Int, bit: Int)
        case cut(sizeBytes: Int)
        case remove

        /// So many batches of `store` are kept, where it opens at all.
        func leastKept(of store: SampleStore) -> Int {
            // What stands behind a piece of a sealed file that does not check cannot be read, nor what it says.
            if case .flip = self, !SimulatedEncryption.isOn { return store.certainCount }
            return store.flushedCount
        }

        package var description: String {
            switch self {
            case .flip(let offset, let bit): "bit \(bit) of byte \(offset) flipped"
            case .cut(let size): "cut to \(size) bytes"
            case .remove: "removed"
            }
        }
    }

    package struct Counts: Sendable {
        package var cases = 0
        /// Refused at the opening, or at a read.
        package var refused = 0
        package var declaredTorn = 0
        /// Damage in bytes that mean nothing, or that the reads did without.
        package var harmless = 0
        package var failures: [String] = []

        package init(failures: [String] = []) { self.failures = failures }

        package mutating func add(_ other: Counts) {
            cases += other.cases
            refused += other.refused
            declaredTorn += other.declaredTorn
            harmless += other.harmless
            failures += other.failures
        }
    }

    package enum Extent: Sendable {
        /// Every bit, and every length.
        case everyBit
        /// Every bit of what was written, one bit of each byte that was only preallocated, and
        /// every length.
        case everyByte
        /// One bit of each byte and every length, where more than zeros that were only
        /// preallocated follows; of those zeros a few.
        case sample
    }

    /// Sweeps all stores, or those cases that fall to `part` of `partCount`.
    package static func run(
        _ extent: Extent, part: Int = 0, partCount: Int = 1, seed: UInt64 = 1
    ) async -> Counts {
        let scheduling = SimulatedScheduling(seed: seed)
        let outcome = await scheduling.run { () -> Counts in
            var counts = Counts()
            do {
                for store in try await SampleStore.all(scheduling) {
                    counts.add(await sweep(store, extent, part, partCount, scheduling))
                }
            } catch { counts.failures.append("the stores could not be made: \(error)") }
            return counts
        }
        return outcome ?? Counts(failures: ["it hangs"])
    }

    private static func sweep(
        _ store: SampleStore, _ extent: Extent, _ part: Int, _ partCount: Int,
        _ scheduling: SimulatedScheduling
    ) async -> Counts {
        var counts = Counts()
        let newestSegment = store.disk.fileNames.last {
            $0.hasPrefix("log-") && store.disk.usedSizeBytes(of: $0) > unbegunSizeBytes
        }
        for file in store.disk.fileNames {
            let cases = damages(
                of: file, sizeBytes: store.disk.sizeBytes(of: file),
                usedSizeBytes: store.disk.usedSizeBytes(of: file), extent,
                // A kill also leaves a segment of no bytes, or none, where it was never begun: what
                // only that segment knew of cannot be told to be missing.
                isLossTold: store.isClosed || file != newestSegment)
            for index in cases.indices where index % partCount == part {
                let place = "\(store.name), \(file), \(cases[index])"
                counts.cases += 1
                var disk = store.disk
                disk.apply(cases[index], to: file)
                do {
                    try await check(
                        disk, store, leastKept: cases[index].leastKept(of: store), &counts,
                        scheduling)
                } catch {
                    counts.failures.append("\(place): \(error)")
                    if counts.failures.count > 20 { return counts }
                }
            }
        }
        return counts
    }

    /// What a segment holds that was made and never begun: where it is sealed, the header of its first part and its
    /// size.
    private static var unbegunSizeBytes: Int { SimulatedEncryption.isOn ? 96 : 0 }

    private static func damages(
        of file: String, sizeBytes: Int, usedSizeBytes: Int, _ extent: Extent,
        isLossTold: Bool
    ) -> [Damage] {
        var damages: [Damage] = isLossTold ? [.remove] : []
        for offset in 0..<sizeBytes {
            let isCutTold = offset > unbegunSizeBytes || isLossTold
            let bit = offset * 5 % 8
            switch extent {
            case .everyBit:
                if isCutTold { damages.append(.cut(sizeBytes: offset)) }
                damages += (0..<8).map { .flip(offset: offset, bit: $0) }
            case .everyByte:
                if isCutTold { damages.append(.cut(sizeBytes: offset)) }
                let bits = offset < usedSizeBytes + 64 ? Array(0..<8) : [bit]
                damages += bits.map { .flip(offset: offset, bit: $0) }
            case .sample where offset < usedSizeBytes + 16:
                if isCutTold { damages.append(.cut(sizeBytes: offset)) }
                damages.append(.flip(offset: offset, bit: bit))
            case .sample where offset % 64 == 0:
                if isCutTold { damages.append(.cut(sizeBytes: offset)) }
                damages.append(.flip(offset: offset, bit: bit))
            case .sample: break
            }
        }
        return damages
    }

    private static func check(
        _ disk: Disk, _ store: SampleStore, leastKept: Int, _ counts: inout Counts,
        _ scheduling: SimulatedScheduling
    ) async throws {
        let fileSystem = SimulatedFileSystem(disk: disk, scheduling: scheduling)
        let engine: Engine
        do {
            engine = try await Engine.open(
                at: "/simulated", fileSystem: fileSystem.underEngine,
                configuration: store.configuration)
        } catch let error as RoostError {
            try requireDamage(error)
            guard fileSystem.turnOff().hasSameContent(as: disk) else {
                throw SimulationFailure("refused, and something was changed")
            }
            counts.refused += 1
            return
        }
        let kept = Int(engine.recovery.lastSequence)
        guard kept < store.contents.count else {
            throw SimulationFailure("invented: \(kept) batches of \(store.contents.count - 1)")
        }
        guard kept >= leastKept else {
            throw SimulationFailure(
                "\(kept) batches are kept, though \(leastKept) are known to have been on disk")
        }
        let isTorn = kept < store.contents.count - 1
        if isTorn, engine.recovery.tornTails.isEmpty {
            throw SimulationFailure(
                "\(kept) of \(store.contents.count - 1) batches, without a word")
        }
        let isRefused = try check(engine, store.contents[kept], keys: store.keys)
        if isRefused {
            counts.refused += 1
        } else if isTorn {
            counts.declaredTorn += 1
        } else {
            counts.harmless += 1
        }
    }

    /// Whether a read was refused; throws where one gave what is not so.
    private static func check(
        _ engine: Engine, _ expected: History.Content, keys: [String: Set<String>]
    ) throws -> Bool {
        var isRefused = false
        for (dictionary, keys) in keys {
            for key in keys {
                do {
                    let found = try engine.value(key, DictionaryName(dictionary)!)
                    guard found == expected[dictionary]?[key] else {
                        throw SimulationFailure(
                            "\(dictionary)/\(key) is \(found?.count ?? -1) bytes")
                    }
                } catch let error as RoostError {
                    try requireDamage(error)
                    isRefused = true
                }
            }
        }
        do {
            let view = try engine.view()
            for dictionary in keys.keys {
                let count = try view.count(of: DictionaryName(dictionary)!)
                guard count == expected[dictionary]?.count ?? 0 else {
                    throw SimulationFailure("\(dictionary) counts \(count)")
                }
            }
        } catch let error as RoostError {
            try requireDamage(error)
            isRefused = true
        }
        do {
            let found = try engine.content()
            if let difference = History.difference(found: found, expected: expected) {
                throw SimulationFailure("a scan shows \(difference)")
            }
        } catch let error as RoostError {
            try requireDamage(error)
            isRefused = true
        }
        return isRefused
    }

    private static func requireDamage(_ error: RoostError) throws {
        let codes: [RoostError.Code] = [.corrupt, .unsupportedVersion, .wrongKey]
        guard codes.contains(error.code), error.file != nil else {
            throw SimulationFailure("an error that does not say damage: \(error)")
        }
    }
}

extension Disk {
    fileprivate mutating func apply(_ damage: DamageSweep.Damage, to file: String) {
        switch damage {
        case .flip(let offset, let bit): flip(file, offset: offset, bit: bit)
        case .cut(let sizeBytes): cut(file, to: sizeBytes)
        case .remove: remove(file)
        }
    }
}
