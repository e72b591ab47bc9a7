import Foundation
import Synchronization

/// The terminal: keys one by one, and a screen that is drawn whole.
final class Terminal: Sendable {
    private let earlier = Mutex<termios?>(nil)

    /// - Throws: where standard input is no terminal.
    func begin() throws {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw NoTerminal()
        }
        let found = settings
        earlier.withLock { $0 = found }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        // The other screen, without a cursor.
        write("\u{1b}[?1049h\u{1b}[?25l")
    }

    func end() {
        write("\u{1b}[?25h\u{1b}[?1049l")
        if var settings = earlier.withLock({ $0 }) { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
    }

    /// Each key that is pressed. Reading blocks, so it has a thread of its own.
    var keys: AsyncStream<Character> {
        AsyncStream { keys in
            Thread.detachNewThread {
                var byte: UInt8 = 0
                while read(STDIN_FILENO, &byte, 1) == 1 {
                    // Control-C too ends the list, which leaves the terminal as it was.
                    keys.yield(byte == 3 ? "q" : Character(UnicodeScalar(byte)))
                }
                // The terminal is gone.
                keys.yield("q")
                keys.finish()
            }
        }
    }

    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func draw(_ lines: [String]) {
        // Each line is cleared behind its text, and all below the last.
        let text = lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n")
        write("\u{1b}[H" + text + "\u{1b}[J")
    }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}

struct NoTerminal: Error, CustomStringConvertible {
    let description = "the list needs a terminal; `tasks print` does not"
}
