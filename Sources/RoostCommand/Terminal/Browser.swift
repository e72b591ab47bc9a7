import Foundation

/// The browser of who sits before this machine.
enum Browser {
    /// Whether there is one that can be opened.
    static var isThere: Bool { program != nil }

    /// Opens a page of this machine's files; says nothing where that cannot be, as the link in it has been
    /// printed.
    static func open(_ page: LinkPage) {
        guard let program else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [page.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // A program that does not start is as good as none.
        try? process.run()
    }

    private static var program: String? {
        #if os(macOS)
            return "/usr/bin/open"
        #else
            let environment = ProcessInfo.processInfo.environment
            guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else {
                return nil
            }
            return (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/xdg-open" }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        #endif
    }
}
