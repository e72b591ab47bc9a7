import Metrics
import Synchronization

/// A backend of swift-metrics that keeps every metric in memory and writes all of them as Prometheus
/// reads them. Counters and meters as they are; timers and recorders as histograms.
///
/// - A metric is made at its first use and stays: metrics are found again by name and labels.
final class PrometheusRegistry: MetricsFactory {
    private let families = Mutex<[String: Family]>([:])

    private struct Family {
        let type: String
        var metrics: [Labels: any PrometheusMetric] = [:]
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(label, "counter", dimensions) { PrometheusValue() }
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        metric(label, "counter", dimensions) { PrometheusValue() }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(label, "gauge", dimensions) { PrometheusValue() }
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        if aggregate { return metric(label, "histogram", dimensions) { PrometheusHistogram() } }
        return metric(label, "gauge", dimensions) { PrometheusValue() }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, "histogram", dimensions) { PrometheusHistogram() }
    }

    // What was counted is to be read yet.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func metric<Metric: PrometheusMetric>(
        _ name: String, _ type: String, _ dimensions: [(String, String)], _ make: () -> Metric
    ) -> Metric {
        let name = Self.name(name)
        let labels = Labels(dimensions)
        return families.withLock { families in
            if let known = families[name]?.metrics[labels] as? Metric { return known }
            let metric = make()
            families[name, default: Family(type: type)].metrics[labels] = metric
            return metric
        }
    }

    // MARK: Text

    /// All metrics, in the text format of version 0.0.4.
    func text() -> String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.type)\n"
            for (labels, metric) in family.metrics.sorted(by: { $0.key.text < $1.key.text }) {
                metric.write(name, labels, to: &text)
            }
        }
        return text
    }

    /// Prometheus has letters, digits, `_` and `:` in names.
    private static func name(_ label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ":") ? $0 : "_" })
    }
}

/// The labels of a metric, in the order of their names.
struct Labels: Hashable {
    /// `a="1",b="2"`
    let text: String

    init(_ dimensions: [(String, String)]) {
        text = dimensions.sorted { $0.0 < $1.0 }.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\n", with: "\\n")
            return "\(name.replacing(".", with: "_"))=\"\(escaped)\""
        }.joined(separator: ",")
    }

    func with(_ more: String) -> String {
        text.isEmpty ? "{\(more)}" : "{\(text),\(more)}"
    }

    var braced: String { text.isEmpty ? "" : "{\(text)}" }
}
