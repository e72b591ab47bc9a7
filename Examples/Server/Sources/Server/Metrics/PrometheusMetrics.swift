import Metrics
import Synchronization

protocol PrometheusMetric: AnyObject, Sendable {
    func write(_ name: String, _ labels: Labels, to text: inout String)
}

/// A counter or a gauge.
final class PrometheusValue: PrometheusMetric, CounterHandler, FloatingPointCounterHandler,
    MeterHandler, RecorderHandler
{
    private let value = Mutex(0.0)

    func increment(by amount: Int64) { value.withLock { $0 += Double(amount) } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func set(_ new: Int64) { value.withLock { $0 = Double(new) } }
    func set(_ new: Double) { value.withLock { $0 = new } }
    func record(_ new: Int64) { set(new) }
    func record(_ new: Double) { set(new) }
    func reset() { set(0.0) }

    func write(_ name: String, _ labels: Labels, to text: inout String) {
        text += "\(name)\(labels.braced) \(value.withLock { $0 })\n"
    }
}

/// How many values were at most as large as each of some bounds, and their sum. Durations in seconds.
final class PrometheusHistogram: PrometheusMetric, TimerHandler, RecorderHandler {
    private struct State {
        var counts = [Int](repeating: 0, count: PrometheusHistogram.bounds.count + 1)
        var sum = 0.0
    }

    private let state = Mutex(State())

    /// From a microsecond to a minute.
    private static let bounds: [Double] = [
        0.000_001, 0.000_005, 0.000_025, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
        0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60,
    ]

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let index = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }

    func write(_ name: String, _ labels: Labels, to text: inout String) {
        let state = state.withLock { $0 }
        var total = 0
        for (bound, count) in zip(Self.bounds, state.counts) {
            total += count
            text += "\(name)_bucket\(labels.with("le=\"\(bound)\"")) \(total)\n"
        }
        total += state.counts.last ?? 0
        text += "\(name)_bucket\(labels.with("le=\"+Inf\"")) \(total)\n"
        text += "\(name)_sum\(labels.braced) \(state.sum)\n"
        text += "\(name)_count\(labels.braced) \(total)\n"
    }
}
