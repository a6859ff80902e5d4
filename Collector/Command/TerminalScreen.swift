import Dispatch
import Foundation

/// The whole terminal as a screen: raw mode, and the alternate screen, so that what was there before comes back.
struct TerminalScreen {
    /// The sequences of xterm (XTerm Control Sequences, DECSET 1049, 25 and 7): the alternate screen, no cursor, no automatic line
    /// breaks.
    private static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
    private static let leave = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    private let saved: termios

    /// Whether standard input and output are a terminal.
    static var isThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    init() throws {
        var mode = termios()
        guard tcgetattr(STDIN_FILENO, &mode) == 0 else { throw POSIXError(.ENOTTY) }
        saved = mode
        cfmakeraw(&mode)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { throw POSIXError(.EIO) }
        Self.write(Self.enter)
    }

    /// Gives the terminal back as it was.
    func restore() {
        Self.write(Self.leave)
        var mode = saved
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// - Parameter lines: as many as the terminal has.
    func draw(_ lines: [String]) {
        // A line is cleared before it is written: afterwards the cursor of a full line stands on its last character.
        Self.write("\u{1b}[H" + lines.map { "\u{1b}[0m\u{1b}[K" + $0 }.joined(separator: "\r\n"))
    }

    /// A terminal that is gone is noticed by its input's end.
    private static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Hands on the bytes that a person typed; none at the end of the input. They come until the source is cancelled.
    static func bytes(_ take: @escaping @Sendable ([UInt8]) -> Void) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        source.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            take(Array(buffer.prefix(max(0, count))))
        }
        source.resume()
        return source
    }
}
