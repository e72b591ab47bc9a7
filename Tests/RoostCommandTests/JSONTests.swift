import Foundation
import Testing

@testable import RoostCommand
@testable import RoostForms

@Suite struct JSONTests {
    @Test(arguments: [
        "null", "true", "[]", "{}", "[1,2.50,-0,1e400,12345678901234567890123]",
        #"{"b":[{"a":null}],"a":"é\u0000\"\\"}"#,
    ])
    func textComesBackAsItWas(_ text: String) throws {
        #expect(try JSONParser.parse(text).text == text)
    }

    @Test func escapesAreRead() throws {
        #expect(
            try JSONParser.parse(#""\ud83d\ude00\/\b\f\n\r\tA""#)
                == .string("😀/\u{8}\u{c}\n\r\tA"))
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "+1", "1e", "nul", "tru",
        "\"", "\"\n\"", "\"\\x\"", "\"\\ud800\"", "\"\\ude00\"", "\"\\ud800\\u0041\"", "1 2",
        "'a'", "NaN", "-", "[1 2]", "{\"a\" 1}", "\"\\u12\"",
    ])
    func whatIsNotJSONIsRefused(_ text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text) }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        let bytes: [UInt8] = [0x22, 0xff, 0x22]
        #expect(throws: JSONSyntaxError.self) {
            try bytes.withUnsafeBytes { (bytes) throws(any Error) in try JSONParser.parse(bytes) }
        }
    }

    @Test func deepNestingIsRefusedWithoutATrap() {
        let text = String(repeating: "[", count: 1_000_000)
        #expect(throws: JSONSyntaxError(offset: 512, reason: "nested more than 512 deep")) {
            try JSONParser.parse(text)
        }
    }

    @Test func decimalFormsAreInTheOrderOfTheirNumbers() throws {
        let texts = [
            "-2e30", "-1234567890123456.72", "-1234567890123456.71", "-10", "-9.5", "-0.1", "0",
            "1e-7", "0.09", "0.1", "0.11", "2", "10", "1234567890123456.71", "1234567890123456.72",
            "1e40",
        ]
        let forms = try texts.map { try #require(DecimalForm($0)) }
        for (place, form) in forms.enumerated() {
            for (other, otherForm) in forms.enumerated() {
                #expect((form < otherForm) == (place < other), "\(texts[place]) \(texts[other])")
            }
        }
    }

    @Test func conditionsCompareDecimalsToTheLastDigit() {
        typealias Comparison = ObjectCondition.Comparison
        let (less, more) = (
            JSONValue.number("1234567890123456.71"), JSONValue.number("1234567890123456.72")
        )
        #expect(Comparison.equal.holds(less, less) && !Comparison.equal.holds(less, more))
        #expect(Comparison.below.holds(less, more) && !Comparison.atLeast.holds(less, more))
        #expect(Comparison.above.holds(more, less) && !Comparison.atMost.holds(more, less))
        #expect(Comparison.atMost.holds(less, less) && Comparison.atLeast.holds(less, less))
        #expect(less.isSorted(before: more) && !more.isSorted(before: less))
        // A literal beside a Double is rounded, as in Swift.
        let tenth = JSONValue.number("0.1")
        #expect(Comparison.equal.holds(tenth, .number("0.1000000000000000055")))
        #expect(!Comparison.below.holds(tenth, .number("0.1000000000000000055")))
    }

    /// A Double that JSON has no number for is shown as text.
    @Test func conditionsCompareNonFiniteDoublesAsNumbers() {
        typealias Comparison = ObjectCondition.Comparison
        let (infinity, minus, none) = (
            JSONValue.string("inf"), JSONValue.string("-inf"), JSONValue.string("nan")
        )
        let one = JSONValue.number("1")
        #expect(Comparison.above.holds(infinity, one) && Comparison.atLeast.holds(infinity, one))
        #expect(!Comparison.below.holds(infinity, one) && !Comparison.equal.holds(infinity, one))
        #expect(Comparison.below.holds(minus, .number("-1e300")))
        #expect(Comparison.atMost.holds(minus, .number("0.5")))
        #expect(Comparison.unequal.holds(infinity, one))
        // A literal beyond all Doubles is rounded to the same.
        #expect(Comparison.equal.holds(infinity, .number("1e999")))
        for comparison in Comparison.allCases {
            #expect(comparison.holds(none, one) == (comparison == .unequal))
        }
        #expect(Comparison.below.holds(minus, infinity, isLiteral: false))
        #expect(Comparison.above.holds(.number("2.5"), minus, isLiteral: false))
        // Text stays text.
        #expect(!Comparison.above.holds(.string("info"), one))
        let ordered: [JSONValue] = [
            .null, minus, .number("-1e300"), .number("0"), .number("1.5"), infinity, none,
        ]
        for (place, value) in ordered.enumerated() {
            for (other, otherValue) in ordered.enumerated() {
                #expect(
                    value.isSorted(before: otherValue) == (place < other), "\(value) \(otherValue)")
            }
        }
    }

    @Test func literalsBesideDoublesAreRounded() {
        typealias Comparison = ObjectCondition.Comparison
        let stored = JSONValue.number((9007199254740992.0).description)
        let literal = JSONValue.number("9007199254740993")
        #expect(Comparison.equal.holds(stored, literal))
        #expect(!Comparison.below.holds(stored, literal))
        #expect(
            Comparison.atMost.holds(stored, literal) && Comparison.atLeast.holds(stored, literal))
        #expect(Comparison.equal.holds(.number("1e+16"), .number("10000000000000001")))
        // An integer is compared to its last digit.
        #expect(!Comparison.equal.holds(.number("9007199254740992"), literal))
        #expect(Comparison.below.holds(.number("9007199254740992"), literal))
    }

    /// Exported and imported again values have the bytes that they had.
    @Test func textIsEscapedAsFoundationDoes() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        for scalar in (0..<0x100).compactMap(UnicodeScalar.init) {
            let text = "a\(Character(scalar))b"
            let encoded = String(decoding: try encoder.encode(text), as: UTF8.self)
            #expect(JSONValue.string(text).text == encoded)
        }
    }

    @Test func decimalFormsTellNumbersApart() {
        #expect(DecimalForm("100.0") == DecimalForm("1e2"))
        #expect(DecimalForm("0.10") == DecimalForm("1E-1"))
        #expect(DecimalForm("-0.0") == DecimalForm("-0"))
        #expect(DecimalForm("0") != DecimalForm("-0"))
        #expect(DecimalForm("1e+19") == DecimalForm("10000000000000000000"))
        #expect(DecimalForm("0.1") != DecimalForm("0.1000000000000000055511151231257827"))
        #expect(DecimalForm("1e99999999999") == nil)
    }
}
