import RoostIO

/// What calls a simulated file system takes, as far as faults tell them apart.
package enum CallKind: String, Sendable, CaseIterable {
    case list, identify, create, open, rename, remove, syncDirectory
    case read, write, preallocate, truncate, sync, map

    /// Whether a crash just before the call may leave anything else than one after the call
    /// before it.
    var changesDisk: Bool {
        switch self {
        case .list, .identify, .open, .read, .map: false
        default: true
        }
    }
}

/// How a call fails.
package enum FaultKind: String, Sendable, CaseIterable {
    case inputOutput = "EIO"
    case noSpace = "ENOSPC"
    case tooManyFiles = "EMFILE"
    /// A write that stops in the middle, its rest refused.
    case shortWrite
    /// A signal in the middle of a call: the call is made again, as beneath the real seam.
    case interrupted = "EINTR"
    /// A read or write in two parts, the second by a call of its own.
    case shortCount

    /// Whether the call fails for whoever made it.
    package var isFailure: Bool { self != .interrupted && self != .shortCount }

    package func canHit(_ call: CallKind) -> Bool {
        switch self {
        case .inputOutput: true
        case .noSpace: [.create, .write, .preallocate, .rename, .sync].contains(call)
        case .tooManyFiles: [.create, .open, .list].contains(call)
        case .shortWrite: call == .write
        case .interrupted:
            [.create, .open, .read, .write, .sync, .truncate, .preallocate].contains(call)
        case .shortCount: call == .write || call == .read
        }
    }

    func error(_ call: CallKind, _ path: String) -> RoostError {
        let isFull = self == .noSpace
        return RoostError(
            isFull ? .outOfSpace : .io, "injected fault: \(rawValue) at \(call.rawValue)",
            file: path)
    }
}

/// A fault that waits for its call.
package struct Fault: Sendable {
    package var kind: FaultKind
    /// The calls that it hits; all that it can hit where `nil`.
    package var call: CallKind?
    /// So many matching calls are let through first.
    package var skipCount: Int
    /// Whether every later matching call fails too.
    package var isLasting: Bool

    package init(
        _ kind: FaultKind, at call: CallKind? = nil, skipping skipCount: Int = 0,
        isLasting: Bool = false
    ) {
        self.kind = kind
        self.call = call
        self.skipCount = skipCount
        self.isLasting = isLasting
    }

    func matches(_ call: CallKind) -> Bool {
        kind.canHit(call) && (self.call == nil || self.call == call)
    }
}
