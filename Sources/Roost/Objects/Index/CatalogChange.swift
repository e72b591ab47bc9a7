import RoostEngine
import RoostIO
import Synchronization

/// A change of the catalog that is committed if the catalog is still as it was read.
struct CatalogChange {
    private var root: IndexCatalog.Root
    private let dictionary: String
    private let reads: TransactionReads
    private var batch: EncodedBatch
    /// The marks of the indexes that are dropped.
    private(set) var droppedMarks: Set<[UInt8]> = []

    init(_ root: IndexCatalog.Root, _ dictionary: String, _ view: EngineView) throws {
        self.root = root
        self.dictionary = dictionary
        var reads = TransactionReads(view)
        reads.note(recordKey: IndexCatalog.root, in: IndexCatalog.name)
        self.reads = reads
        batch = EncodedBatch(hashSeed: view.hashSeed)
    }

    func hasOthers(than kept: Set<UInt64>) -> Bool {
        root.indexes.contains { $0.isOf(dictionary) && !kept.contains($0.number) }
    }

    mutating func drop(allBut kept: Set<UInt64>) {
        for index in root.indexes where index.isOf(dictionary) && !kept.contains(index.number) {
            let mark = IndexCatalog.mark(index.number)
            droppedMarks.insert(mark)
            batch.write(nil, recordKey: mark, in: IndexCatalog.name)
            batch.clear(IndexCatalog.entries(index.number))
        }
        root.indexes.removeAll { $0.isOf(dictionary) && !kept.contains($0.number) }
    }

    mutating func add(_ name: String, _ shape: String, _ number: UInt64) {
        root.nextNumber = max(root.nextNumber, number + 1)
        root.indexes.append(
            .init(dictionary: dictionary, name: name, shape: shape, number: number))
        // A crash may have left entries of an index that never came into the catalog.
        batch.clear(IndexCatalog.entries(number))
        batch.write(
            IndexCatalog.Progress.building(after: nil).stored,
            recordKey: IndexCatalog.mark(number), in: IndexCatalog.name)
    }

    /// `false`, with nothing changed, where the catalog is another by now.
    mutating func commit(_ engine: Engine) async throws -> Bool {
        batch.write(
            try IndexCatalog.encode(root), recordKey: IndexCatalog.root, in: IndexCatalog.name)
        return try await engine.commit(batch, reads: reads, durability: nil) != nil
    }
}

/// Numbers of new indexes: none is given twice while the workspace is open, whoever asks.
final class IndexNumbers: Sendable {
    private let last = Atomic<UInt64>(0)

    func next(_ least: UInt64) -> UInt64 {
        var number = last.load(ordering: .relaxed)
        while true {
            let next = max(number + 1, least)
            let (isExchanged, seen) = last.compareExchange(
                expected: number, desired: next, ordering: .relaxed)
            if isExchanged { return next }
            number = seen
        }
    }
}
