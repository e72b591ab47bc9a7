import Roost
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

    @Test func lineBreaksThatJSONEscapesAreKept() throws {
        let stored = StoredValue(.json, Array(#"["a\r\nb"]"#.utf8))
        #expect(EditableForm.text(stored) == #""a\r\nb""#)
    }
}
