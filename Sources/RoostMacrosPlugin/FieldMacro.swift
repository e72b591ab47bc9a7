#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// Marks a property or a case with its number; `BinaryCodableMacro` reads the mark.
    public struct FieldMacro: PeerMacro {
        public static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
            in context: some MacroExpansionContext
        ) -> [DeclSyntax] {
            let isStored = declaration.as(VariableDeclSyntax.self)?.isStored ?? false
            if !isStored && !declaration.is(EnumCaseDeclSyntax.self) {
                context.report(.misplacedField, at: node)
            }
            return []
        }
    }

    /// The number that a declaration is marked with.
    struct FieldNumber {
        /// The highest number that the stored form has room for.
        static let highest = (1 << 29) - 1

        let value: Int
        let node: Syntax

        /// - Returns: `nil` after reporting a number that is missing or of no use.
        init?(
            of attributes: AttributeListSyntax, at declaration: some SyntaxProtocol,
            named name: String,
            in context: some MacroExpansionContext
        ) {
            guard let attribute = Self.attribute(in: attributes) else {
                context.report(.missingNumber(name), at: declaration)
                return nil
            }
            guard case .argumentList(let arguments) = attribute.arguments,
                let literal = arguments.first?.expression.as(IntegerLiteralExprSyntax.self),
                let value = literal.representedLiteralValue, (1...Self.highest).contains(value)
            else {
                context.report(.invalidNumber, at: attribute)
                return nil
            }
            self.value = value
            node = Syntax(attribute)
        }

        static func attribute(in attributes: AttributeListSyntax) -> AttributeSyntax? {
            attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first(where: isNumber)
        }

        /// Whether an attribute is `@Field`.
        static func isNumber(_ attribute: AttributeSyntax) -> Bool {
            let name = attribute.attributeName.trimmedDescription
            return name == "Field" || name.hasSuffix(".Field")
        }
    }
#endif
