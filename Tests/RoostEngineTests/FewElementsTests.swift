import Testing

@testable import RoostEngine

@Suite struct FewElementsTests {
    @Test(arguments: 0..<5) func theyComeInTheOrderInWhichTheyCame(count: Int) {
        var few = FewElements<Int>()
        #expect(few.isEmpty)
        for number in 0..<count { few.append(number) }
        #expect(Array(few) == Array(0..<count))
        #expect(few.isEmpty == (count == 0))
        var more = FewElements<Int>()
        more.append(7)
        more.append(contentsOf: few)
        #expect(Array(more) == [7] + Array(0..<count))
    }
}
