import Foundation

/// The same writes as the demo's integers, against one binary property list that is encoded
/// whole and replaced atomically at each set, as preferences files and one-file repositories do.
///
/// Each set costs more the more keys there are, so a few hundred sets are timed at sizes spread
/// evenly from the first to the last, and what lies between is scaled from them. Filling the
/// dictionary up to those sizes is not timed.
struct PropertyListBaseline {
    let measuredCount: Int
    /// For all writes, scaled from those measured.
    let scaledSeconds: Double
    let measuredSeconds: Double
    let fileSizeBytes: UInt64

    init(writeCount: Int, measuredCount: Int, directory: String) throws {
        let url = URL(fileURLWithPath: directory).appendingPathComponent("baseline.plist")
        let step = writeCount / measuredCount
        var values: [String: Int] = [:]
        var measured = Duration.zero
        for index in 0..<writeCount {
            values[DemoCommand.key(index)] = index
            // The middle of each step stands for it.
            guard index % step == step / 2 else { continue }
            measured += try ContinuousClock().measure {
                let data = try PropertyListSerialization.data(
                    fromPropertyList: values, format: .binary, options: 0)
                try data.write(to: url, options: .atomic)
            }
        }
        self.measuredCount = measuredCount
        measuredSeconds = measured / .seconds(1)
        scaledSeconds = measuredSeconds * Double(step)
        let data = try PropertyListSerialization.data(
            fromPropertyList: values, format: .binary, options: 0)
        fileSizeBytes = UInt64(data.count)
    }
}
