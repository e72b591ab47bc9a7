#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// The stored properties of a struct, in ascending order of their numbers.
    struct StructFields {
        private struct Field {
            var number: Int
            var name: String
            var type: StoredType
            var defaultValue: String?
            /// Whether something else than the property's own storage may answer for it, as a property wrapper does: it may
            /// give another value than the one that is stored.
            var isWrapped: Bool
        }

        private var fields: [Field] = []

        /// - Returns: `nil` after reporting what cannot be stored.
        init?(of declaration: StructDeclSyntax, in context: some MacroExpansionContext) {
            var numbers = UsedNumbers()
            var isValid = true
            for member in declaration.memberBlock.members {
                if member.decl.holdsConditionalMembers {
                    context.report(.conditionalMember, at: member.decl)
                    isValid = false
                }
                guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStored
                else {
                    continue
                }
                if let field = Self.field(variable, &numbers, context) {
                    fields.append(field)
                } else {
                    isValid = false
                }
            }
            guard isValid else { return nil }
            fields.sort { $0.number < $1.number }
        }

        private static func field(
            _ variable: VariableDeclSyntax, _ numbers: inout UsedNumbers,
            _ context: some MacroExpansionContext
        ) -> Field? {
            guard variable.bindings.count == 1, let binding = variable.bindings.first,
                let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
            else {
                context.report(.severalDeclarations, at: variable)
                return nil
            }
            let name = pattern.identifier.text
            guard
                let number = FieldNumber(
                    of: variable.attributes, at: variable, named: name, in: context),
                numbers.use(number, for: name, in: context)
            else { return nil }
            let initial = binding.initializer?.value
            guard
                let written = binding.typeAnnotation?.type
                    ?? initial.flatMap(StoredType.literalType)
            else {
                context.report(.missingType(name), at: binding)
                return nil
            }
            guard let type = StoredType(written, in: context) else { return nil }
            let defaultValue = initial?.trimmedDescription
            if defaultValue != nil, variable.bindingSpecifier.tokenKind == .keyword(.let) {
                context.report(.constantWithValue(name), at: binding)
                return nil
            }
            return Field(
                number: number.value, name: name, type: type, defaultValue: defaultValue,
                isWrapped: variable.attributes.contains { !isNumber($0) })
        }

        private static func isNumber(_ attribute: AttributeListSyntax.Element) -> Bool {
            guard let attribute = attribute.as(AttributeSyntax.self) else { return false }
            return FieldNumber.isNumber(attribute)
        }

        /// Where each property is, and what reads it. Those that are left out are read with the whole object.
        var table: [String] {
            fields.filter { !$0.isWrapped }.map { field in
                "RoostCoding.StoredField(\\Self.\(field.name)) { reader in "
                    + field.type.read(field.number, default: field.defaultValue) + " }"
            }
        }

        var members: (encode: [String], decode: [String]) {
            (
                fields.map {
                    $0.type.write($0.number, "self.\($0.name)", default: $0.defaultValue)
                },
                fields.map {
                    "self.\($0.name) = " + $0.type.read($0.number, default: $0.defaultValue)
                }
            )
        }
    }

    extension DeclSyntax {
        /// Whether this is `#if` around what would be a stored property or a case.
        var holdsConditionalMembers: Bool {
            guard let condition = self.as(IfConfigDeclSyntax.self) else { return false }
            return condition.clauses.contains { clause in
                guard case .decls(let members) = clause.elements else { return false }
                return members.contains {
                    $0.decl.is(EnumCaseDeclSyntax.self) || $0.decl.holdsConditionalMembers
                        || $0.decl.as(VariableDeclSyntax.self)?.isStored == true
                }
            }
        }
    }

    extension VariableDeclSyntax {
        /// Whether the variable is part of each value, and not computed, static or lazy.
        var isStored: Bool {
            let isOfType = modifiers.contains {
                [.keyword(.static), .keyword(.class), .keyword(.lazy)].contains($0.name.tokenKind)
            }
            guard !isOfType else { return false }
            return bindings.allSatisfy { binding in
                switch binding.accessorBlock?.accessors {
                case nil: true
                case .getter: false
                case .accessors(let accessors):
                    accessors.allSatisfy {
                        [.keyword(.willSet), .keyword(.didSet)].contains(
                            $0.accessorSpecifier.tokenKind)
                    }
                }
            }
        }
    }
#endif
