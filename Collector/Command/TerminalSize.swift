import Foundation

/// The size of the terminal behind standard output, in characters.
struct TerminalSize {
    var columns: Int
    var rows: Int

    /// The size now. A terminal that does not know its size has that of the first ones.
    static var current: TerminalSize {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return TerminalSize(
            columns: isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80,
            rows: isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
