#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    @main
    struct RoostMacrosPlugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [BinaryCodableMacro.self, FieldMacro.self]
    }
#else
    // Without the trait nothing is compiled but this, and nobody runs it.
    @main
    enum RoostMacrosPlugin {
        static func main() {}
    }
#endif
