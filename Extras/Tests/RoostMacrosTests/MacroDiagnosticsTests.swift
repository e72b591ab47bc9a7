import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import MacroExpansion

@Suite struct MacroDiagnosticsTests {
    private let specs: [String: MacroSpec] = [
        "BinaryCodable": MacroSpec(type: BinaryCodableMacro.self, conformances: ["BinaryCodable"]),
        "Field": MacroSpec(type: FieldMacro.self),
    ]

    /// Expects one message for a declaration, at a line and a column of it.
    private func expect(
        _ message: String, line: Int, column: Int = 5, in source: String,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        let plain = source.replacing("@BinaryCodable ", with: "")
            .replacing(#/@Field\([^)]*\) /#, with: "")
        assertMacroExpansion(
            source, expandedSource: plain,
            diagnostics: [DiagnosticSpec(message: message, line: line, column: column)],
            macroSpecs: specs,
            failureHandler: {
                Issue.record("\($0.message)", sourceLocation: sourceLocation)
            })
    }

    @Test func reusedNumber() {
        expect(
            "field number 1 is used already, by 'a'", line: 3,
            in: """
                @BinaryCodable struct Model {
                    @Field(1) var a: Int
                    @Field(1) var b: Int
                }
                """)
    }

    @Test func missingNumber() {
        expect(
            "'b' needs a number: write @Field(n) before it", line: 3,
            in: """
                @BinaryCodable struct Model {
                    @Field(1) var a: Int
                    var b: Int
                }
                """)
        expect(
            "'b' needs a number: write @Field(n) before it", line: 2,
            in: """
                @BinaryCodable enum Model {
                    case b
                }
                """)
    }

    @Test func numberOutOfRange() {
        expect(
            "a field number is an integer literal from 1 to 536870911", line: 2,
            in: """
                @BinaryCodable struct Model {
                    @Field(0) var a: Int
                }
                """)
    }

    @Test func unsupportedTypes() {
        for type in ["(Int, Int)", "[() -> Void]", "Any", "any Equatable", "Int.Type"] {
            expect(
                "'\(type)' cannot be stored: it is not BinaryCodable",
                line: 2, column: 22,
                in: """
                    @BinaryCodable struct Model {
                        @Field(1) var a: \(type)
                    }
                    """)
        }
    }

    @Test func missingType() {
        for value in ["Date()", "[1]", "nil", ".light", "-x"] {
            expect(
                "'a' needs a written type", line: 2, column: 19,
                in: """
                    @BinaryCodable struct Model {
                        @Field(1) var a = \(value)
                    }
                    """)
        }
    }

    @Test func constantsWithValues() {
        expect(
            "'a' is a constant with a value and cannot be read: make it a variable",
            line: 2, column: 19,
            in: """
                @BinaryCodable struct Model {
                    @Field(1) let a: Int = 5
                }
                """)
    }

    @Test func severalCasesAtOnce() {
        expect(
            "write one property or case for each @Field", line: 2,
            in: """
                @BinaryCodable enum Model {
                    @Field(1) case a, b
                }
                """)
    }

    @Test func unsupportedValuesOfCases() {
        expect(
            "'(Int, Int)' cannot be stored: it is not BinaryCodable", line: 2, column: 22,
            in: """
                @BinaryCodable enum Model {
                    @Field(1) case a((Int, Int))
                }
                """)
    }

    @Test func conditionalMembers() {
        expect(
            "properties and cases inside #if would change the stored form: write them outside",
            line: 3,
            in: """
                @BinaryCodable struct Model {
                    @Field(1) var a: Int
                    #if DEBUG
                    var b: Int
                    #endif
                }
                """)
    }

    @Test func privateTypesInOthers() {
        expect(
            "'Model' is private in another type, where no extension finds it: make it fileprivate",
            line: 2, column: 20,
            in: """
                struct Outer {
                    @BinaryCodable private struct Model {
                        @Field(1) var a: Int
                    }
                }
                """)
        expect(
            "'Middle' is private in another type, where no extension finds it: make it fileprivate",
            line: 2,
            in: """
                enum Outer {
                    private enum Middle {
                        @BinaryCodable struct Model {
                            @Field(1) var a: Int
                        }
                    }
                }
                """)
    }

    @Test func fieldsThatAreNotStored() {
        for declaration in [
            "static var a: Int = 5", "lazy var a: Int = 5", "var a: Int { 5 }", "func a() {}",
        ] {
            expect(
                "@Field applies to stored properties, not lazy ones, and enum cases only", line: 2,
                in: """
                    struct Model {
                        @Field(1) \(declaration)
                    }
                    """)
        }
    }

    @Test func otherDeclarations() {
        expect(
            "@BinaryCodable applies to structs and enums only", line: 1, column: 1,
            in: """
                @BinaryCodable class Model {
                }
                """)
    }
}
