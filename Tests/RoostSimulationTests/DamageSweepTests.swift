import RoostSimulator
import Testing

@Suite("Damage sweep", .serialized)
struct DamageSweepTests {
    @Test("A bit of every byte flipped, and every length, gives no wrong value")
    func everyByte() async {
        // A sixth of the cases; `make damage` tries all of them, and every bit.
        let counts = await DamageSweep.run(.oneBitPerByte, part: 1, partCount: 6)
        for failure in counts.failures { Issue.record("\(failure)") }
        #expect(counts.cases > 4000)
        #expect(counts.refused > counts.cases / 10)
        #expect(counts.declaredTorn > 0)
        #expect(counts.harmless > 0)
    }
}
