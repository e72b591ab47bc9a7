import RoostEngine
import RoostFormat
import RoostIO

/// What is live of one repository, as far as it takes no type of object: what a batch meets first, and what is
/// done for each object and each result that it is about. docs/decisions/0251.
///
/// - A part of `LiveState`, and guarded by the same mutex.
final class LiveTable {
    var gate = LiveGate()
    /// The number of the batch that was taken last.
    var batch: UInt64 = 0
    /// The results that the batch under way touches.
    var touched: [AnyLiveResult] = []
    private var lookUpCount: UInt64 = 0

    // MARK: One object

    /// It leaves the results that keep it.
    func depart(_ object: AnyLiveObject) {
        for result in object.holders {
            result.stageDeparture(object)
            touch(result)
        }
        object.holders.removeAll(keepingCapacity: true)
    }

    /// It comes to the results that it matches.
    ///
    /// - Parameter known: The object where it was kept before, as it is now.
    /// - Parameter make: Makes it otherwise: without results that are about it nothing is made of it.
    func arrive(
        _ key: [UInt8], _ known: AnyLiveObject?, _ item: UnsafeRawPointer,
        make: () -> AnyLiveObject, failed: (AnyLiveResult, any Error) -> Void
    ) {
        var object = known
        lookUpCount += 1
        gate.matcher.forEachMatch(item, lookUpCount) { result in
            let arriving = object ?? make()
            object = arriving
            touch(result)
            if result.stageArrival(arriving) { arriving.holders.append(result) }
        } failed: {
            failed($0, $1)
        }
        if let object, !object.holders.isEmpty {
            if object !== known { gate.objects[key] = object }
        } else if known != nil {
            gate.objects[key] = nil
        }
    }

    private func touch(_ result: AnyLiveResult) {
        if result.isTouched { return }
        result.isTouched = true
        touched.append(result)
    }

    /// Lets go of the object where nobody keeps it; whether it was there.
    func letGo(of object: AnyLiveObject) -> Bool {
        guard object.holders.isEmpty, gate.objects[object.key] === object else { return false }
        gate.objects[object.key] = nil
        return true
    }
}

/// What a batch meets first: whether it is about anything that is live.
///
/// - `objects` has the objects that results keep, each as it was after the batch that was taken last.
/// - `isQuiet` and `deadline` are what `LiveState` said at its last change.
/// - It is a value, so that all of it is reached by one access.
struct LiveGate {
    var watch: LiveWatch?
    /// What of a record key stands before an object's key.
    var prefixCount = 0
    var objects: [[UInt8]: AnyLiveObject] = [:]
    var matcher = LiveMatcher()
    /// Whether a batch that is about no result has no other consequence.
    var isQuiet = false
    /// When something is to be done at the latest, also without a batch.
    var deadline = Deadline.never
    /// Room for what the watcher was told, and for a key.
    private var events: [WatchEvent] = []
    private var key: [UInt8] = []
    /// Room for so many events is kept.
    private static let keptEventCount = 64

    /// Takes what the watcher was told; `nil` where nothing comes of it.
    mutating func takeTouching(_ clock: ExpiryClock) -> LiveTaken? {
        guard let watch else { return nil }
        // Before the batches are taken: what has expired by then and was saved before is among them.
        let time = deadline == .never ? 0 : clock.milliseconds
        let isEnded = watch.takeReady(into: &events)
        if isQuiet, !isEnded, deadline == .never || time < deadline.milliseconds,
            isAboutNothing()
        {
            events.removeAll(keepingCapacity: events.capacity <= Self.keptEventCount)
            return nil
        }
        defer { events = [] }
        return LiveTaken(events: events, isEnded: isEnded, time: time)
    }

    private mutating func isAboutNothing() -> Bool {
        for index in events.indices {
            guard case .changed(let operation) = events[index].content,
                events[index].isRead(operation), isAboutNothing(operation)
            else { return false }
        }
        return true
    }

    /// Whether no result keeps the object, and it goes, or its stored bytes say that none gets it.
    private mutating func isAboutNothing(_ operation: Operation) -> Bool {
        if !objects.isEmpty {
            let bytes = UnsafeRawBufferPointer(rebasing: operation.key[prefixCount...])
            if key.count != bytes.count { key = Array(repeating: 0, count: bytes.count) }
            key.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
            if objects.index(forKey: key) != nil { return false }
        }
        return !operation.isPut || !matcher.mayMatch(operation.value)
    }
}

/// What a watcher was told, and when that was asked.
struct LiveTaken: Sendable {
    let events: [WatchEvent]
    let isEnded: Bool
    let time: UInt64
}
