#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// The type of a field, and the code that writes and reads it.
    struct StoredType {
        private let isOptional: Bool

        /// - Returns: `nil` after reporting a type that no value of which can be stored.
        init?(_ type: TypeSyntax, in context: some MacroExpansionContext) {
            guard Self.isSupported(type) else {
                context.report(.unsupportedType(type.trimmedDescription), at: type)
                return nil
            }
            isOptional = Self.isOptional(type)
        }

        private static func isOptional(_ type: TypeSyntax) -> Bool {
            if let type = type.as(IdentifierTypeSyntax.self) {
                return type.name.text == "Optional" && type.genericArgumentClause != nil
            }
            if let type = type.as(MemberTypeSyntax.self) {
                return type.name.text == "Optional" && type.genericArgumentClause != nil
            }
            if let type = type.as(TupleTypeSyntax.self), type.elements.count == 1 {
                return type.elements.first.map { isOptional($0.type) } ?? false
            }
            return type.is(OptionalTypeSyntax.self)
        }

        /// The type of a property that is written with a literal alone, such as `var count = 0`.
        static func literalType(of value: ExprSyntax) -> TypeSyntax? {
            if let value = value.as(PrefixOperatorExprSyntax.self) {
                let isNumber =
                    value.expression.is(IntegerLiteralExprSyntax.self)
                    || value.expression.is(FloatLiteralExprSyntax.self)
                return value.operator.text == "-" && isNumber
                    ? literalType(of: value.expression) : nil
            }
            if value.is(IntegerLiteralExprSyntax.self) { return "Swift.Int" }
            if value.is(FloatLiteralExprSyntax.self) { return "Swift.Double" }
            if value.is(BooleanLiteralExprSyntax.self) { return "Swift.Bool" }
            if value.is(StringLiteralExprSyntax.self) { return "Swift.String" }
            return nil
        }

        /// Whether a type may be `BinaryCodable`: tuples, functions, metatypes and boxes never are.
        private static func isSupported(_ type: TypeSyntax) -> Bool {
            if let type = type.as(OptionalTypeSyntax.self) { return isSupported(type.wrappedType) }
            if let type = type.as(ArrayTypeSyntax.self) { return isSupported(type.element) }
            if let type = type.as(DictionaryTypeSyntax.self) {
                return isSupported(type.key) && isSupported(type.value)
            }
            if let type = type.as(TupleTypeSyntax.self) {
                // A type in parentheses is itself.
                guard type.elements.count == 1, let element = type.elements.first else {
                    return false
                }
                return element.firstName == nil && isSupported(element.type)
            }
            if let type = type.as(IdentifierTypeSyntax.self) {
                guard !["Any", "AnyObject"].contains(type.name.text) else { return false }
                return areSupported(type.genericArgumentClause)
            }
            if let type = type.as(MemberTypeSyntax.self) {
                return areSupported(type.genericArgumentClause)
            }
            return false
        }

        private static func areSupported(_ clause: GenericArgumentClauseSyntax?) -> Bool {
            clause?.arguments.allSatisfy {
                guard case .type(let type) = $0.argument else { return true }
                return isSupported(type)
            } ?? true
        }

        /// The calls that write and read the field. One whose default is a value cannot be left out for `nil`: an
        /// optional is written as a whole, and of a type that may be a name for one the compiler finds out.
        private func call(_ defaultValue: String?) -> String {
            guard let defaultValue, defaultValue != "nil" else { return "field" }
            return isOptional ? "wholeField" : "defaultedField"
        }

        func write(_ number: Int, _ value: String, default defaultValue: String? = nil) -> String {
            "writer.\(call(defaultValue))(\(number), \(value))"
        }

        /// The type is not named: that of a property of a type in another type may stand beside it there, where an
        /// extension does not find it by its name alone. What the value is read for says which it is.
        func read(_ number: Int, default defaultValue: String? = nil) -> String {
            guard let defaultValue, !(isOptional && defaultValue == "nil") else {
                return "try reader.field(\(number))"
            }
            return "try reader.\(call(defaultValue))(\(number), default: \(defaultValue))"
        }
    }
#endif
