#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// What the macros refuse to compile, and what to do about it.
    enum MacroProblem: DiagnosticMessage {
        case unsupportedDeclaration
        case misplacedField
        case missingNumber(String)
        case invalidNumber
        case reusedNumber(Int, name: String)
        case missingType(String)
        case unsupportedType(String)
        case constantWithValue(String)
        case severalDeclarations
        case conditionalMember
        case privateInAnother(String)

        var message: String {
            switch self {
            case .unsupportedDeclaration: "@BinaryCodable applies to structs and enums only"
            case .misplacedField:
                "@Field applies to stored properties, not lazy ones, and enum cases only"
            case .missingNumber(let name): "'\(name)' needs a number: write @Field(n) before it"
            case .invalidNumber:
                "a field number is an integer literal from 1 to \(FieldNumber.highest)"
            case .reusedNumber(let number, let name):
                "field number \(number) is used already, by '\(name)'"
            case .missingType(let name): "'\(name)' needs a written type"
            case .unsupportedType(let type): "'\(type)' cannot be stored: it is not BinaryCodable"
            case .constantWithValue(let name):
                "'\(name)' is a constant with a value and cannot be read: make it a variable"
            case .severalDeclarations: "write one property or case for each @Field"
            case .conditionalMember:
                "properties and cases inside #if would change the stored form: write them outside"
            case .privateInAnother(let name):
                "'\(name)' is private in another type, where no extension finds it: make it fileprivate"
            }
        }

        var diagnosticID: MessageID {
            let name = Mirror(reflecting: self).children.first?.label ?? "\(self)"
            return MessageID(domain: "RoostMacros", id: name)
        }

        var severity: DiagnosticSeverity { .error }
    }

    extension MacroExpansionContext {
        func report(_ problem: MacroProblem, at node: some SyntaxProtocol) {
            diagnose(Diagnostic(node: Syntax(node), message: problem))
        }
    }
#endif
