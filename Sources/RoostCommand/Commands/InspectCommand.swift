import ArgumentParser
import Foundation
import Roost

#if Inspector
    import RoostInspector
    import Synchronization
#endif

/// `roost inspect`: a workspace in a browser.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Serves a page that looks into a workspace, for a browser on this machine.",
        discussion: """
            Prints a link, which lets one browser in, once, and opens it where there is a browser. \
            Changes nothing unless --write. Ends with Control-C.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Flag(
        exclusivity: .exclusive,
        help: ArgumentHelp("Whether values may be changed and removed."))
    var access = InspectorAccess.readOnly
    @Option(help: "The port on 127.0.0.1; any that is free where it is 0.")
    var port: UInt16 = 0
    @Flag(inversion: .prefixedNo, help: "Open the link in a browser.")
    var open = true

    func run() async throws {
        #if Inspector
            switch access {
            case .readOnly: try await source.withWorkspace(.readOnly) { try await serve($0) }
            case .write: try await source.withExistingWorkspace { try await serve($0) }
            }
        #else
            throw Failure(
                .usage,
                "this roost was built without its inspector: build it with "
                    + "swift build -c release --traits Inspector --product roost")
        #endif
    }

    #if Inspector
        private func serve(_ workspace: Workspace) async throws {
            let page = Mutex<LinkPage?>(nil)
            let removePage: @Sendable () -> Void = { page.withLock { $0.take() }?.remove() }
            defer { removePage() }
            let inspector = Inspector(
                workspace,
                configuration: .init(port: Int(port), allowsWriting: access == .write)
            ) { [open] link in
                do {
                    try Output.write([link])
                    guard open, Browser.isThere else { return }
                    let made = try LinkPage(link)
                    page.withLock { $0 = made }
                    Browser.open(made)
                } catch { printError("\(error)") }
            } onLinkUsed: {
                removePage()
            }
            try await inspector.runUntilInterrupted()
        }
    #endif
}

/// What an inspector may do.
enum InspectorAccess: String, EnumerableFlag {
    case readOnly
    case write
}
