import Foundation
import Testing

@testable import RoostReplica

struct RestorePointTests {
    /// As `roost restore --at` reads a time, which the tool itself may have printed.
    @Test func aMomentIsTheMillisecondThatWasAskedFor() throws {
        for fraction in 0..<1000 {
            let digits = String(String(fraction + 1000).dropFirst())
            let date = try Date(
                "2026-11-20T10:00:00.\(digits)Z",
                strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            #expect(RestorePoint.moment(date).milliseconds == 1_795_168_800_000 + UInt64(fraction))
        }
    }

    @Test func momentsBeyondAllNumbersAreTheFirstAndTheLast() {
        func milliseconds(_ seconds: Double) -> UInt64? {
            RestorePoint.moment(Date(timeIntervalSince1970: seconds)).milliseconds
        }
        #expect(milliseconds(-1) == 0 && milliseconds(-.infinity) == 0 && milliseconds(.nan) == 0)
        #expect(milliseconds(.infinity) == 1 << 53 && milliseconds(1e300) == 1 << 53)
        #expect(RestorePoint.newest.milliseconds == nil)
    }
}
