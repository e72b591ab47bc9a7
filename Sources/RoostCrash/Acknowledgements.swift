import Foundation
import Synchronization

/// Memory that the writer and its supervisor share: what the writer was told survives it.
///
/// - A task's count of acknowledged steps is stored after the step's call has returned.
/// - The file behind the memory is the supervisor's; the writer only maps it.
final class Acknowledgements: Sendable {
    /// What the writer is doing.
    enum Phase: UInt64 {
        case starting, opening, running, closing
    }

    private static let sizeBytes = 4096
    private static let strideWords = 8
    private static let compactingWord = 1
    private static let firstTaskWord = 8

    private let address: UInt

    init(path: String, create: Bool) throws {
        let descriptor = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0o600)
        guard descriptor >= 0 else { throw CrashFailure("could not open \(path): \(errno)") }
        defer { close(descriptor) }
        if create, ftruncate(descriptor, off_t(Self.sizeBytes)) != 0 {
            throw CrashFailure("could not size \(path): \(errno)")
        }
        let base = mmap(nil, Self.sizeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let base, base != MAP_FAILED else {
            throw CrashFailure("could not map \(path): \(errno)")
        }
        address = UInt(bitPattern: base)
    }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), Self.sizeBytes) }

    /// An aligned word of the mapping, which lives as long as `self`.
    private func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        UnsafeMutableRawPointer(bitPattern: address)!
            .advanced(by: index * MemoryLayout<UInt64>.stride)
            .assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    private func load(_ index: Int) -> UInt64 {
        word(index).pointee.load(ordering: .sequentiallyConsistent)
    }
    private func store(_ value: UInt64, _ index: Int) {
        word(index).pointee.store(value, ordering: .sequentiallyConsistent)
    }

    var phase: Phase {
        get { Phase(rawValue: load(0)) ?? .starting }
        set { store(newValue.rawValue, 0) }
    }

    var isCompacting: Bool {
        get { load(Self.compactingWord) != 0 }
        set { store(newValue ? 1 : 0, Self.compactingWord) }
    }

    /// How many steps of `task` were acknowledged.
    func count(task: Int) -> UInt64 { load(Self.firstTaskWord + task * Self.strideWords) }
    func setCount(_ count: UInt64, task: Int) {
        store(count, Self.firstTaskWord + task * Self.strideWords)
    }

    var total: UInt64 { (0..<CrashPlan.taskCount).reduce(0) { $0 + count(task: $1) } }
}

struct CrashFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
