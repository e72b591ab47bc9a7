import Foundation
import Roost
import RoostSamples
import Synchronization

/// The kinds of operation whose instructions are counted.
enum CountedOperation: String, CaseIterable, Codable {
    case put
    /// With an observer that counts what it is told.
    case putObserved = "put-observed"
    case putDurable = "put-durable"
    case residentGet = "resident-get"
    /// Of a value that no flush has written yet.
    case logGet = "log-get"
    /// After its dictionary was emptied, in the batch that the value was written in, as of a dictionary that is followed.
    case logGetCleared = "log-get-cleared"
    case coldGet = "cold-get"
    case absentGet = "absent-get"
    case scan
    case scanEntries = "scan-entries"
    case batch
    case decodeCodable = "decode-codable"
    case encodeCodable = "encode-codable"
    case saveObject = "save-object"
    /// Beside a thousand live queries that it does not touch.
    case saveObjectLive = "save-object-live"

    var writes: Bool {
        switch self {
        case .put, .putObserved, .putDurable, .batch, .encodeCodable: true
        case .residentGet, .coldGet, .absentGet, .scan, .scanEntries, .decodeCodable: false
        case .logGet, .logGetCleared: false
        case .saveObject, .saveObjectLive: false
        }
    }

    /// How many operations the shorter and the longer run do; what is counted is the difference.
    var counts: (shorter: Int, longer: Int) {
        switch self {
        case .putDurable: (200, 1200)
        case .decodeCodable, .encodeCodable: (500, 2500)
        default: (2000, 12_000)
        }
    }
}

/// One kind of operation, a number of times, on a workspace made beforehand.
struct Section {
    let operation: CountedOperation
    let count: Int
    let directory: String
    /// Made for the longer run in both, so that their making is not counted.
    private let keys: [String]
    private let values: [[UInt8]]

    init(operation: CountedOperation, count: Int, directory: String) {
        self.operation = operation
        self.count = count
        self.directory = directory
        let indices = 0..<operation.counts.longer
        keys = indices.map { Sample.key($0) + (operation == .absentGet ? "-" : "") }
        values = operation.writes ? indices.map(Sample.value) : []
    }

    static let preparedKeys = 20_000

    /// Makes the workspace of the cold reads: compacted, so that all keys are in snapshots.
    static func prepare(_ directory: String) async throws {
        let workspace = try await Workspace.open(
            at: directory + "/prepared", configuration: .init(durability: .process))
        let bytes = workspace.dictionary("bytes")
        let records = workspace.dictionary("records")
        for index in 0..<preparedKeys {
            try await bytes.set(Sample.value(index), forKey: Sample.key(index))
            if index < 5000 {
                try await records.set(SampleRecord(index), forKey: Sample.key(index))
            }
        }
        try await workspace.compact()
        try await workspace.close()
    }

    func run() async throws {
        switch operation {
        case .coldGet, .absentGet, .residentGet, .scan, .scanEntries, .decodeCodable:
            try await read()
        case .put, .putObserved, .putDurable, .batch, .encodeCodable: try await write()
        case .logGet: try await readFromLog(isCleared: false)
        case .logGetCleared: try await readFromLog(isCleared: true)
        case .saveObject: try await saveObjects(besideLive: false)
        case .saveObjectLive: try await saveObjects(besideLive: true)
        }
    }

    private func read() async throws {
        let workspace = try await Workspace.open(
            at: directory + "/prepared", configuration: .init(access: .readOnly))
        let bytes = workspace.dictionary("bytes")
        var found = 0
        switch operation {
        case .coldGet:
            for index in 0..<count
            where try bytes.value(forKey: keys[index], as: [UInt8].self)?.count == 100 {
                found += 1
            }
        case .residentGet:
            for index in 0..<count
            where try bytes.value(forKey: keys[index % 100], as: [UInt8].self)?.count == 100 {
                found += 1
            }
        case .absentGet:
            for index in 0..<count where try !bytes.contains(keys[index]) { found += 1 }
        case .scan:
            try workspace.read { view in
                try view.forEachBytes(of: bytes, limit: count) { _, value in
                    if value.byteCount == 100 { found += 1 }
                }
            }
        case .scanEntries:
            for try await (_, value) in bytes.entries(as: [UInt8].self, limit: count)
            where value.count == 100 {
                found += 1
            }
        default:
            let records = workspace.dictionary("records")
            for index in 0..<count {
                let record = try records.value(forKey: keys[index], as: SampleRecord.self)
                if record?.id == index { found += 1 }
            }
        }
        guard found == count else { throw CountError("found \(found) of \(count)") }
        try await workspace.close()
    }

    private func readFromLog(isCleared: Bool) async throws {
        let workspace = try await Workspace.inMemory()
        let bytes = workspace.dictionary("bytes")
        let value = Sample.value(0)
        try await workspace.write { batch in
            if isCleared { batch.removeAll(in: bytes) }
            for key in keys.prefix(1000) { batch.set(value, forKey: key, in: bytes) }
        }
        var found = 0
        for index in 0..<count
        where try bytes.value(forKey: keys[index % 1000], as: [UInt8].self)?.count == 100 {
            found += 1
        }
        guard found == count else { throw CountError("found \(found) of \(count)") }
        try await workspace.close()
    }

    private func write() async throws {
        let path = "\(directory)/written-\(count)"
        let observer = operation == .putObserved ? CountingObserver() : nil
        let workspace = try await Workspace.open(
            at: path, configuration: .init(durability: .process, observer: observer))
        let bytes = workspace.dictionary("bytes")
        switch operation {
        case .put, .putObserved:
            for index in 0..<count {
                try await bytes.set(values[index], forKey: keys[index])
            }
        case .putDurable:
            for index in 0..<count {
                try await bytes.set(
                    values[index], forKey: keys[index], durability: .synced)
            }
        case .batch:
            for begin in stride(from: 0, to: count, by: 1000) {
                let indices = begin..<(begin + 1000)
                try await bytes.setAll(indices.map { (keys[$0], values[$0]) })
            }
        default:
            for index in 0..<count {
                try await bytes.set(SampleRecord(index), forKey: keys[index])
            }
        }
        guard try bytes.count == count else { throw CountError("not all is there") }
        try await workspace.close()
        try FileManager.default.removeItem(atPath: path)
    }
}

/// Counts what is measured, as one that keeps metrics does.
private final class CountingObserver: WorkspaceObserver {
    private let measuredCount = Atomic<Int>(0)

    func measured(_ operation: ObservedOperation) {
        measuredCount.wrappingAdd(1, ordering: .relaxed)
    }
}

struct CountError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
