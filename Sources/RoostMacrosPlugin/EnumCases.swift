#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// The cases of an enum, in the order in which they are written.
    struct EnumCases {
        private struct Value {
            var label: String?
            var type: StoredType
            var defaultValue: String?
        }

        private struct Case {
            var number: Int
            var name: String
            var values: [Value]
        }

        private var cases: [Case] = []

        /// - Returns: `nil` after reporting what cannot be stored.
        init?(of declaration: EnumDeclSyntax, in context: some MacroExpansionContext) {
            var numbers = UsedNumbers()
            var isValid = true
            for member in declaration.memberBlock.members {
                if member.decl.holdsConditionalMembers {
                    context.report(.conditionalMember, at: member.decl)
                    isValid = false
                }
                guard let declaration = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
                if let found = Self.enumCase(declaration, &numbers, context) {
                    cases.append(found)
                } else {
                    isValid = false
                }
            }
            guard isValid else { return nil }
        }

        private static func enumCase(
            _ declaration: EnumCaseDeclSyntax, _ numbers: inout UsedNumbers,
            _ context: some MacroExpansionContext
        ) -> Case? {
            guard declaration.elements.count == 1, let element = declaration.elements.first else {
                context.report(.severalDeclarations, at: declaration)
                return nil
            }
            let name = element.name.text
            guard
                let number = FieldNumber(
                    of: declaration.attributes, at: declaration, named: name, in: context),
                numbers.use(number, for: name, in: context)
            else { return nil }
            var values: [Value] = []
            for parameter in element.parameterClause?.parameters ?? [] {
                guard let type = StoredType(parameter.type, in: context) else { return nil }
                let label = parameter.firstName.map(\.text)
                    .flatMap { $0 == "_" ? nil : Self.argumentLabel($0) }
                let defaultValue = parameter.defaultValue?.value.trimmedDescription
                values.append(Value(label: label, type: type, defaultValue: defaultValue))
            }
            return Case(number: number.value, name: name, values: values)
        }

        /// As it is written before an argument, where few words need to be escaped, and the compiler warns of others.
        private static func argumentLabel(_ text: String) -> String {
            let name = text.filter { $0 != "`" }
            let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
            return isPlain && !["inout", "let", "var"].contains(name) ? name : text
        }

        var members: (encode: [String], decode: [String]) {
            guard !cases.isEmpty else {
                return (["switch self {}"], ["throw reader.unknownCase(try reader.caseNumber())"])
            }
            return (
                ["switch self {"] + cases.flatMap(writing) + ["}"],
                ["switch try reader.caseNumber() {"] + cases.map(reading) + [
                    "case let number: throw reader.unknownCase(number)", "}",
                ]
            )
        }

        private func writing(_ enumCase: Case) -> [String] {
            let names = enumCase.values.indices.map { "value\($0 + 1)" }
            let pattern =
                names.isEmpty ? "" : "(" + names.map { "let \($0)" }.joined(separator: ", ") + ")"
            return [
                "case .\(enumCase.name)\(pattern):", "    writer.caseNumber(\(enumCase.number))",
            ]
                + zip(enumCase.values, names).enumerated().map { index, value in
                    "    " + value.0.type.write(index + 1, value.1, default: value.0.defaultValue)
                }
        }

        private func reading(_ enumCase: Case) -> String {
            let values = enumCase.values.enumerated().map { index, value in
                (value.label.map { "\($0): " } ?? "")
                    + value.type.read(index + 1, default: value.defaultValue)
            }
            let arguments = values.isEmpty ? "" : "(" + values.joined(separator: ", ") + ")"
            return "case \(enumCase.number): self = .\(enumCase.name)\(arguments)"
        }
    }
#endif
