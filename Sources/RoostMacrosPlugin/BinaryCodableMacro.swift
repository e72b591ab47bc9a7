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
            if let hidden = hiddenType(declaration, in: context) {
                context.report(.privateInAnother(hidden.name), at: hidden.modifier)
                return []
            }
            let access =
                inliningPrefix(of: declaration) + accessPrefix(of: declaration, in: context)
            let members: (encode: [String], decode: [String])?
            var table: [String]?
            if let declaration = declaration.as(StructDeclSyntax.self) {
                let fields = StructFields(of: declaration, in: context)
                members = fields?.members
                // What reads a field would hold on to the generic parameters, which may be of an actor.
                if !isGeneric(declaration, in: context) { table = fields?.table }
            } else if let declaration = declaration.as(EnumDeclSyntax.self) {
                members = EnumCases(of: declaration, in: context)?.members
            } else {
                context.report(.unsupportedDeclaration, at: node)
                members = nil
            }
            guard let members else { return [] }
            // A type may state a conformance itself; with that of the table it has its own.
            let missing = protocols.map(\.trimmedDescription)
            let hasTable = missing.contains { $0.hasSuffix("StoredFields") }
            var stated: [String] = []
            if missing.contains(where: { $0.hasSuffix("BinaryCodable") }) {
                stated.append("nonisolated RoostCoding.BinaryCodable")
            }
            if let table, hasTable, !table.isEmpty {
                stated.append("nonisolated RoostCoding.StoredFields")
            }
            let conformance = stated.isEmpty ? "" : ": " + stated.joined(separator: ", ")
            // The shape is stated, since a type with a raw value would have that of the value.
            let source = """
                \(availability(of: declaration, in: context))extension \(type.trimmedDescription)\(conformance) {
                    \(access)nonisolated static var binaryShape: RoostCoding.BinaryShape { .message }

                    \(access)nonisolated func encode(into writer: inout RoostCoding.BinaryWriter) {
                \(indented(members.encode))
                    }

                    \(access)nonisolated init(from reader: inout RoostCoding.BinaryReader) throws {
                \(indented(members.decode))
                    }
                \(hasTable ? member(table ?? [], access) : "")
                }
                """
            return [try ExtensionDeclSyntax("\(raw: source)")]
        }

        /// The table of fields, for queries that need some of them.
        private static func member(_ table: [String], _ access: String) -> String {
            if table.isEmpty { return "" }
            return """

                    \(access)nonisolated static var storedFields: [RoostCoding.StoredField<Self>] {
                        [
                \(indented(table.map { "    " + $0 + "," }))
                        ]
                    }
                """
        }

        private static func isGeneric(
            _ declaration: StructDeclSyntax, in context: some MacroExpansionContext
        ) -> Bool {
            if declaration.genericParameterClause != nil { return true }
            return context.lexicalContext.contains { outer in
                outer.asProtocol((any WithGenericParametersSyntax).self)?
                    .genericParameterClause != nil || outer.is(ExtensionDeclSyntax.self)
            }
        }

        /// Which of a type and those that it is in is private in another one. In the file itself `private` hides nothing.
        private static func hiddenType(
            _ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
        ) -> (name: String, modifier: DeclModifierSyntax)? {
            let nested = [Syntax(declaration)] + context.lexicalContext
            for type in nested.dropLast() {
                guard let group = type.asProtocol((any DeclGroupSyntax).self),
                    let name = type.asProtocol((any NamedDeclSyntax).self)?.name.text,
                    let modifier = group.modifiers.first(where: {
                        $0.name.tokenKind == .keyword(.private) && $0.detail == nil
                    })
                else { continue }
                return (name, modifier)
            }
            return nil
        }

        /// The extension is there where the type and those around it are.
        private static func availability(
            of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
        ) -> String {
            let types = [Syntax(declaration)] + context.lexicalContext
            return types.compactMap { $0.asProtocol((any WithAttributesSyntax).self) }
                .flatMap { attributes(in: $0.attributes, named: "available") }
                .map { $0.trimmedDescription + "\n" }.joined()
        }

        /// What clients may inline code of has members of which that is said too.
        private static func inliningPrefix(of declaration: some DeclGroupSyntax) -> String {
            attributes(in: declaration.attributes, named: "usableFromInline").isEmpty
                ? "" : "@usableFromInline "
        }

        private static func attributes(
            in list: AttributeListSyntax, named name: String
        ) -> [AttributeSyntax] {
            list.compactMap { $0.as(AttributeSyntax.self) }
                .filter { $0.attributeName.trimmedDescription == name }
        }

        /// The members must be as visible as the type, whose visibility may stand at the extension
        /// that it is in.
        private static func accessPrefix(
            of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
        ) -> String {
            if let access = access(of: declaration.modifiers) { return access }
            let outer = context.lexicalContext.first?.as(ExtensionDeclSyntax.self)
            return outer.flatMap { access(of: $0.modifiers) } ?? ""
        }

        /// The prefix for these modifiers; `nil` where none of them speaks of visibility.
        private static func access(of modifiers: DeclModifierListSyntax) -> String? {
            for modifier in modifiers where modifier.detail == nil {
                switch modifier.name.tokenKind {
                case .keyword(.public): return "public "
                case .keyword(.package): return "package "
                case .keyword(.internal), .keyword(.fileprivate), .keyword(.private): return ""
                default: continue
                }
            }
            return nil
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
