import Foundation

extension Date {
    /// The moment that many milliseconds after 1970, which deadlines and copies are kept to.
    package init(milliseconds: UInt64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
