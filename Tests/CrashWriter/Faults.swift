import Foundation
import Roost

/// A program with mapped memory of its own, and a workspace whose files are cut while it is open.
///
/// Modes: `faults-before` and `faults-after` install a handler of SIGBUS before the workspace's or after
/// it; `faults-alone` has none; `faults-own` has none and touches its own memory; `faults-declined` has
/// the workspace install none.
enum Faults {
    /// The program's own memory, whose file is cut. Set before the handler is installed.
    nonisolated(unsafe) private static var own = UnsafeMutableRawPointer(bitPattern: 1)
        .unsafelyUnwrapped
    nonisolated(unsafe) private static var earlier = sigaction()
    nonisolated(unsafe) private static var ownCount = 0
    private static let ownSizeBytes = 4096

    static func run(_ path: String, _ mode: String) async throws -> Never {
        try mapOwnMemory(path + ".own")
        if mode == "faults-before" { installHandler() }
        let workspace = try await Workspace.open(
            at: path,
            configuration: .init(
                memoryBudgetBytes: 0, handlesPageFaults: mode != "faults-declined"))
        if mode == "faults-after" { installHandler() }
        let values = workspace.dictionary("values")
        for number in 0..<200 {
            try await values.set(
                [UInt8](repeating: UInt8(number), count: 1000), forKey: "\(number)")
        }
        try await workspace.compact()
        if mode == "faults-own" {
            say("own \(own.load(as: UInt8.self))")
            exit(1)
        }
        try cutSnapshots(path)
        var errors = 0
        for number in 0..<200 {
            do {
                _ = try values.value(forKey: "\(number)", as: [UInt8].self)
            } catch let error as RoostError where error.code == .io {
                if error.file?.contains("snapshot") == true, error.offset != nil { errors += 1 }
            }
        }
        say("errors \(errors)")
        if mode == "faults-before" || mode == "faults-after" {
            say("own \(own.load(as: UInt8.self)) handled \(ownCount)")
        }
        // The workspace still takes writes, and gives them back.
        try await values.set([UInt8](repeating: 9, count: 1), forKey: "new")
        say("new \(try values.value(forKey: "new", as: [UInt8].self) ?? [])")
        exit(0)
    }

    private static func mapOwnMemory(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(ownSizeBytes)) == 0,
            let mapped = mmap(nil, ownSizeBytes, PROT_READ, MAP_SHARED, descriptor, 0),
            mapped != MAP_FAILED, ftruncate(descriptor, 0) == 0
        else { throw POSIXError(.EIO) }
        own = mapped
    }

    /// Puts a page of sevens in the place of the program's own, and hands on what is not its own.
    private static func installHandler() {
        var action = sigaction()
        action.sa_flags = SA_SIGINFO
        action.__sigaction_handler.sa_sigaction = { number, info, context in
            if info?.pointee._sifields._sigfault.si_addr == Faults.own {
                let page = mmap(
                    Faults.own, Faults.ownSizeBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
                page?.storeBytes(of: 7, as: UInt8.self)
                Faults.ownCount += 1
            } else if Faults.earlier.sa_flags & SA_SIGINFO != 0 {
                Faults.earlier.__sigaction_handler.sa_sigaction(number, info, context)
            } else {
                signal(SIGBUS, SIG_DFL)
            }
        }
        sigaction(SIGBUS, &action, &earlier)
    }

    private static func cutSnapshots(_ path: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name.hasPrefix("snapshot") && !name.contains("new") {
            guard truncate("\(path)/\(name)", 0) == 0 else { throw POSIXError(.EIO) }
        }
    }
}
