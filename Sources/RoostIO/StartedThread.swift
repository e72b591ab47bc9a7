import CRoost
import Dispatch

/// Runs something on a thread of its own. Foundation's `Thread` does not say whether the system gave one, and who waits for
/// what it should do would wait for ever.
package enum StartedThread {
    /// Starts a thread that runs `body` and then ends; `false` where there is none to be had now.
    package typealias Start =
        @Sendable (
            _ name: String, _ stackSizeBytes: Int, _ body: @escaping @Sendable () -> Void
        ) -> Bool

    /// Of the system. A name has 15 bytes; a stack of zero bytes has the system's size.
    package static let bySystem: Start = { name, stackSizeBytes, body in
        let context = Unmanaged.passRetained(Body(run: body))
        let isStarted = roost_start_thread(
            name, stackSizeBytes,
            { context in
                guard let context else { preconditionFailure("the context was handed over") }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            }, context.toOpaque())
        if isStarted == 0 { context.release() }
        return isStarted != 0
    }

    /// How long the system is left alone before it is asked again.
    private static let patience = DispatchTimeInterval.milliseconds(20)

    /// Has a thread run `body`: now, or once there is one to be had. Does not wait for it.
    package static func begin(
        _ name: String, stackSizeBytes: Int = 0, by start: @escaping Start = bySystem,
        _ body: @escaping @Sendable () -> Void
    ) {
        if start(name, stackSizeBytes, body) { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) {
            begin(name, stackSizeBytes: stackSizeBytes, by: start, body)
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
