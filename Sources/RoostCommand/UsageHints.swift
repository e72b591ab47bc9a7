/// What is added to the argument parser's messages, which say what it did not understand and not what to write.
enum UsageHints {
    /// - Parameters:
    ///   - message: the parser's.
    ///   - arguments: what stood behind the command's name.
    static func hint(for message: String, _ arguments: [String]) -> String? {
        if message.contains("'--cluster'") {
            return
                "over a cluster there are get, set, remove, keys, scan, watch, import, export, stat and shell; copy takes its address as a path"
        }
        if message.contains("'--format'"), arguments.contains("--cluster"),
            arguments.contains("import")
        {
            return
                "over a cluster import reads JSON Lines: import the file into a directory, and copy that"
        }
        // An option that was left out is named, and what begins with a dash has nothing to do with it.
        if message.hasPrefix("Missing expected argument '--") { return nil }
        if !arguments.contains("--"), let index = arguments.firstIndex(where: isNegative) {
            if index > 0, arguments[index - 1].hasPrefix("--") {
                return
                    "a value that begins with - stands behind =, as \(arguments[index - 1])=\(arguments[index])"
            }
            return "what begins with - stands behind --, as -- \(arguments[index])"
        }
        // What begins with a dash is taken for an option, and then another argument is said to be missing.
        if message.hasPrefix("Missing"),
            arguments.contains(where: { $0.hasPrefix("-") && $0 != "-" })
        {
            return
                "a key or value that begins with - stands behind --, an option's behind =, as --prefix=-x"
        }
        return nil
    }

    private static func isNegative(_ argument: String) -> Bool {
        argument.hasPrefix("-") && Double(argument) != nil
    }
}
