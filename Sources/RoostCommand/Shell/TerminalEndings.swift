import Foundation

/// Gives the terminal back as it was where a signal ends the process while a line is edited.
///
/// Lasts as long as the process: what it catches is not put back.
final class TerminalEndings {
    private let sources: [any DispatchSourceSignal]

    init() {
        var attributes = termios()
        let isKnown = tcgetattr(STDIN_FILENO, &attributes) == 0
        let before = attributes
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                var attributes = before
                if isKnown { tcsetattr(STDIN_FILENO, TCSANOW, &attributes) }
                // Ends bracketed paste, which the editor begins with each line.
                let end = Array("\u{1b}[?2004l\n".utf8)
                _ = write(STDOUT_FILENO, end, end.count)
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
            source.resume()
            return source
        }
    }
}
