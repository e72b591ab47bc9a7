import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A server on loopback that answers each connection on a thread of its own, until it is stopped.
final class StubServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let connections = Mutex(Connections())

    /// A descriptor that was closed is soon another's, and nothing more is asked of it then: those of connections stay open
    /// until the server is stopped and their threads have ended.
    private struct Connections {
        var answering: Set<Int32> = []
        var answered: [Int32] = []
        var count = 0
        var isStopped = false

        mutating func begin(_ descriptor: Int32) {
            count += 1
            answering.insert(descriptor)
            if isStopped { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }

        mutating func end(_ descriptor: Int32) {
            answering.remove(descriptor)
            if isStopped {
                close(descriptor)
            } else {
                answered.append(descriptor)
            }
        }

        mutating func stop() {
            isStopped = true
            for descriptor in answering { shutdown(descriptor, Int32(SHUT_RDWR)) }
            for descriptor in answered { close(descriptor) }
            answered = []
        }
    }

    /// - Parameter answer: reads and writes; the connection is left as it is when it returns, until the server is stopped.
    init(_ answer: @escaping @Sendable (StubConnection) -> Void) throws {
        let listener = socket(AF_INET, Self.streamKind, 0)
        guard listener >= 0 else { throw StubFailure() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw StubFailure()
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            takeConnections(answer)
            #if canImport(Glibc)
                // Not by who stops: this thread might go on with the listener of another server, which has its number by then.
                close(listener)
            #endif
        }
    }

    /// Returns once the server is stopped.
    private func takeConnections(_ answer: @escaping @Sendable (StubConnection) -> Void) {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else {
                if connections.withLock({ $0.isStopped }) { return }
                Thread.sleep(forTimeInterval: 0.001)
                continue
            }
            connections.withLock { $0.begin(descriptor) }
            Thread.detachNewThread { [self] in
                answer(StubConnection(descriptor: descriptor))
                connections.withLock { $0.end(descriptor) }
            }
        }
    }

    /// One that takes connections and never says anything.
    static func silent() throws -> StubServer {
        try StubServer { connection in while connection.read(1) != nil {} }
    }

    /// Of all connections that were taken, also those that have ended.
    var connectionCount: Int { connections.withLock { $0.count } }

    /// Ends the listening and all connections; the threads end with them.
    func stop() {
        // Nobody is taken from here on; the thread that takes them ends once it finds the server stopped, and not before.
        shutdown(listener, Int32(SHUT_RDWR))
        connections.withLock { $0.stop() }
        #if !canImport(Glibc)
            // Where that does not wake the thread.
            close(listener)
        #endif
    }

    #if canImport(Glibc)
        private static let streamKind = Int32(SOCK_STREAM.rawValue)
    #else
        private static let streamKind = SOCK_STREAM
    #endif
}

struct StubFailure: Error {}

/// What one client of a `StubServer` sends and gets.
struct StubConnection: Sendable {
    let descriptor: Int32

    /// So many bytes; `nil` where the client has gone.
    func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            let received = recv(descriptor, &part, part.count, 0)
            guard received > 0 else { return nil }
            bytes += part.prefix(received)
        }
        return bytes
    }

    func write(_ bytes: [UInt8]) {
        // A client that has gone is found when the next message is read.
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}

extension FixedWidthInteger {
    /// As networks send it.
    var networkBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    init(networkBytes: some Sequence<UInt8>) {
        self = networkBytes.reduce(0) { $0 << 8 | Self($1) }
    }
}
