import Foundation
import Roost
import RoostCoding
import RoostFormat
import RoostForms
import Testing

/// Values as text that a person may change in the inspector.
@Suite struct EditableFormTests {
    @Test(arguments: ["", "a", "a\nb\n", "\n", "é \u{1F426}\t"])
    func textsAreThemselves(_ text: String) throws {
        let stored = StoredValue(.string, Array(text.utf8))
        #expect(EditableForm.text(stored) == text)
    }

    @Test(arguments: ["a\r\nb", "a\rb", "\r", "\r\n"])
    func textsThatAFieldOfAPageWouldChangeAreNotChangedAsText(_ text: String) throws {
        #expect(EditableForm.text(StoredValue(.string, Array(text.utf8))) == nil)
    }

    @Test func decimalsThatAreNoNumbersAreTextInJSON() throws {
        let tree = ValueTree.array([.decimal(.nan), .decimal(1.5), .double(.nan)])
        #expect(tree.json == .array([.string("NaN"), .number("1.5"), .string("nan")]))
        #expect(try ValueTree(editable: ValueTree.decimal(.nan).editable) == .decimal(.nan))
    }

    /// Foundation reads the begin of a text that is a number: 12,5 was stored as 12.
    @Test(arguments: ["12,5", "1.5O", "1 000", "1.2.3", "", "0x10", "1e400", "3 EUR"])
    func textsThatOnlyBeginAsDecimalsAreNoChange(_ text: String) throws {
        let stored = StoredValue(.roost, try RoostCoder().encode([Decimal(1.5)]))
        #expect(EditableForm.text(stored) == #"[{"$decimal":"1.5"}]"#)
        #expect(throws: StoredForm.Failure.self) {
            try EditableForm.stored(#"[{"$decimal":"\#(text)"}]"#, inPlaceOf: stored)
        }
        for (text, value) in [("12.50", 12.5), ("-3", -3), ("1e3", 1000), ("0", 0)] {
            let changed = try EditableForm.stored(
                #"[{"$decimal":"\#(text)"}]"#, inPlaceOf: stored)
            let read = try RoostCoder().decode([Decimal].self, from: changed.payload)
            #expect(read == [Decimal(value)])
        }
    }

    @Test(arguments: [ValueKind.int, .int64, .uint])
    func wholeNumbersAreChangedAsText(_ kind: ValueKind) throws {
        let stored = StoredValue(kind, [7, 0, 0, 0, 0, 0, 0, 0])
        #expect(EditableForm.text(stored) == "7")
        let changed = try EditableForm.stored("258", inPlaceOf: stored)
        #expect(changed.plain?.value == StoredValue(kind, [2, 1, 0, 0, 0, 0, 0, 0]))
        for text in ["2.5", "two", ""] {
            #expect(throws: StoredForm.Failure.self) {
                try EditableForm.stored(text, inPlaceOf: stored)
            }
        }
    }

    /// Foundation's format shows dates far away as one and the same.
    @Test(arguments: [
        (Double.nan, "nan"), (.infinity, "inf"), (-.infinity, "-inf"), (1e15, "1000000000000000.0"),
        (-1e13, "-10000000000000.0"), (252_423_993_600, "252423993600.0"),
        (252_423_993_599, "9999-12-31T23:59:59.000Z"),
        (-63_113_904_001, "-63113904001.0"),
    ])
    func datesThatAreNoDatesAreTextInJSON(_ seconds: Double, _ text: String) throws {
        let tree = ValueTree.date(Date(timeIntervalSinceReferenceDate: seconds))
        #expect(tree.json == .string(text))
        let again = try ValueTree(editable: tree.editable)
        #expect(again.json == .string(text))
    }

    /// Foundation's decoder went down with them until the process ended.
    @Test func propertyListsThatNobodyCanReadAreShownAsTheyAreStored() throws {
        var nested: [Any] = []
        for _ in 0..<512 { nested = [nested] }
        let deep = try PropertyListSerialization.data(
            fromPropertyList: nested, format: .binary, options: 0)
        // An array that is its own element: the object, its offset, and the trailer.
        var trailer = [UInt8](repeating: 0, count: 32)
        (trailer[6], trailer[7], trailer[15], trailer[31]) = (1, 1, 1, 10)
        let head: [UInt8] = Array("bplist00".utf8)
        let endless: [UInt8] = head + [0xa1, 0, 8] + trailer
        for payload in [Array(deep), endless] {
            let stored = StoredValue(.propertyList, payload)
            #expect(ReadableForm.valueTree(stored) == nil)
            #expect(ReadableForm.json(stored) == StoredForm.json(stored))
        }
    }

    @Test func lineBreaksThatJSONEscapesAreKept() throws {
        let stored = StoredValue(.json, Array(#"["a\r\nb"]"#.utf8))
        #expect(EditableForm.text(stored) == #""a\r\nb""#)
    }

    @Test func datesOfCodedValuesAreDates() throws {
        let dates = [1, 1.5].map(Date.init(timeIntervalSinceReferenceDate:))
        let stored = StoredValue(.roost, try RoostCoder().encode(dates))
        #expect(ReadableForm.valueTree(stored) == .array(dates.map(ValueTree.date)))
        #expect(
            try RoostCoder().decode(PropertyListTree.self, from: stored.payload)
                == .array(dates.map(PropertyListTree.date)))
    }

    private struct Todo: Codable, Equatable {
        var id = UUID()
        var blob = Data([1, 255, 0])
        var bytes: [UInt8] = [1, 2]
        var ids = [UUID(), UUID()]
        var title = "milk"
    }

    @Test func identifiersAndBytesOfCodedValuesAreWhatTheyAre() throws {
        let todo = Todo()
        let stored = StoredValue(.roost, try RoostCoder().encode(todo))
        let tree = try #require(ReadableForm.valueTree(stored))
        guard case .object(let members) = tree else { throw CocoaError(.coderReadCorrupt) }
        let values = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
        #expect(values["id"] == .uuid(todo.id) && values["blob"] == .data(todo.blob))
        #expect(values["ids"] == .array(todo.ids.map { .uuid($0) }))
        #expect(ReadableForm.json(stored).text.contains("\"\(todo.id.uuidString)\""))

        let text = try #require(EditableForm.text(stored))
        let changed = try EditableForm.stored(
            text.replacingOccurrences(of: "milk", with: "bread"), inPlaceOf: stored)
        let read = try RoostCoder().decode(Todo.self, from: changed.payload)
        var expected = todo
        expected.title = "bread"
        #expect(read == expected)
    }

    @Test func whatIsNestedTooDeepToBeReadIsNoChange() throws {
        let stored = StoredValue(.json, Array("[[]]".utf8))
        for count in [511, 512] {
            let text = String(repeating: "[", count: count) + String(repeating: "]", count: count)
            if count == 511 {
                let changed = try EditableForm.stored(text, inPlaceOf: stored)
                #expect(EditableForm.text(changed) == text)
            } else {
                #expect(throws: StoredForm.Failure.self) {
                    try EditableForm.stored(text, inPlaceOf: stored)
                }
            }
        }
    }

    private struct Plan: Codable, Equatable {
        struct Step: Codable, Equatable {
            var note: String?
            var name = "step"
            var due: Date?
        }
        var first: String?
        var title = "milk"
        var due: Date?
        var steps = [Step(), Step(note: "n"), Step(due: Date(timeIntervalSince1970: 0.5))]
        var step: Step? = Step()
        var last: Int?
    }

    /// They stay `nil`, or become what a person adds.
    @Test func objectsWithoutAValueOfTheirOptionalPropertiesAreChangedAsText() throws {
        let plan = Plan()
        let stored = StoredValue(.roost, try RoostCoder().encode(plan))
        let text = try #require(EditableForm.text(stored))
        #expect(!text.contains("first") && !text.contains("last"))
        func changed(_ old: String, _ new: String) throws -> Plan {
            #expect(text.contains(old))
            let changed = try EditableForm.stored(
                text.replacing(old, with: new), inPlaceOf: stored)
            return try RoostCoder().decode(Plan.self, from: changed.payload)
        }
        var expected = plan
        #expect(try changed("milk", "milk") == plan)
        expected.title = "bread"
        #expect(try changed("milk", "bread") == expected)
        expected.title = "milk"
        expected.last = 7
        #expect(try changed("\"title\":\"milk\"", "\"last\":7,\"title\":\"milk\"") == expected)
        expected.last = nil
        expected.steps[1].note = nil
        #expect(try changed("\"note\":\"n\",", "") == expected)
    }
}
