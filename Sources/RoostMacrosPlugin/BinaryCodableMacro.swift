#if Macros
    import SwiftSyntax
    import SwiftSyntaxBuilder
    import SwiftSyntaxMacros

    /// Writes the conformance to `BinaryCodable`.
    public struct BinaryCodableMacro: ExtensionMacro {
        public static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
            providingExtensionsOf type: some TypeSyntaxProtocol,
            conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            let access = accessPrefix(of: declaration)
            let members: (encode: [String], decode: [String])?
            if let declaration = declaration.as(StructDeclSyntax.self) {
                members = StructFields(of: declaration, in: context)?.members
            } else if let declaration = declaration.as(EnumDeclSyntax.self) {
                members = EnumCases(of: declaration, in: context)?.members
            } else {
                context.report(.unsupportedDeclaration, at: node)
                members = nil
            }
            guard let members else { return [] }
            let source = """
                extension \(type.trimmedDescription): nonisolated RoostCoding.BinaryCodable {
                    \(access)nonisolated func encode(into writer: inout RoostCoding.BinaryWriter) {
                \(indented(members.encode))
                    }

                    \(access)nonisolated init(from reader: inout RoostCoding.BinaryReader) throws {
                \(indented(members.decode))
                    }
                }
                """
            return [try ExtensionDeclSyntax("\(raw: source)")]
        }

        /// The members must be as visible as the type.
        private static func accessPrefix(of declaration: some DeclGroupSyntax) -> String {
            for modifier in declaration.modifiers {
                switch modifier.name.tokenKind {
                case .keyword(.public), .keyword(.open): return "public "
                case .keyword(.package): return "package "
                default: continue
                }
            }
            return ""
        }

        private static func indented(_ lines: [String]) -> String {
            lines.map { "        " + $0 }.joined(separator: "\n")
        }
    }

    /// Reports the second use of a number.
    struct UsedNumbers {
        private var names: [Int: String] = [:]

        mutating func use(
            _ number: FieldNumber, for name: String, in context: some MacroExpansionContext
        ) -> Bool {
            if let other = names[number.value] {
                context.report(.reusedNumber(number.value, name: other), at: number.node)
                return false
            }
            names[number.value] = name
            return true
        }
    }
#endif
