import Foundation

/// A process on a separate terminal. The test reads its output and types keys.
package final class PseudoTerminal: Sendable {
    package let pid: pid_t
    private let terminal: Int32
    /// The process's end of the terminal. It stays open, so that its modes can be read after the process has ended.
    private let line: Int32
    private let process: Process
    /// The time in milliseconds after which a process that draws nothing fails the test.
    private static let patience: Int32 = 60_000

    package init(_ program: ChildProcess.Program, _ arguments: [String], columns: Int, rows: Int) throws {
        var (terminal, line): (Int32, Int32) = (-1, -1)
        var size = Self.size(columns, rows)
        guard openpty(&terminal, &line, nil, nil, &size) == 0 else { throw POSIXError(.ENODEV) }
        (self.terminal, self.line) = (terminal, line)
        process = Process()
        process.executableURL = program.url
        process.arguments = arguments
        process.environment = ["TERM": "xterm"]
        process.standardInput = FileHandle(fileDescriptor: line)
        process.standardOutput = FileHandle(fileDescriptor: line)
        process.standardError = FileHandle(fileDescriptor: line)
        try process.run()
        pid = process.processIdentifier
    }

    deinit {
        if process.isRunning { kill(pid, SIGKILL) }
        process.waitUntilExit()
        close(terminal)
        close(line)
    }

    /// The current modes of the terminal.
    package var modes: [UInt32] {
        var modes = termios()
        tcgetattr(line, &modes)
        return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }

    package func resize(columns: Int, rows: Int) {
        var size = Self.size(columns, rows)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        // The terminal does not control the process, so the kernel signals nobody.
        kill(pid, SIGWINCH)
    }

    private static func size(_ columns: Int, _ rows: Int) -> winsize {
        winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    }

    package func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
    }

    package func signal(_ signal: Int32) { kill(pid, signal) }

    /// Reads what the process draws until it has drawn the text, and returns all of it.
    package func read(until text: String) async -> String {
        await blocking { terminal in
            var drawn = [UInt8]()
            while !String(decoding: drawn, as: UTF8.self).contains(text) {
                guard let bytes = Self.bytes(from: terminal, within: Self.patience) else { break }
                drawn += bytes
            }
            return String(decoding: drawn, as: UTF8.self)
        }
    }

    /// Waits for the end of the process. Returns its exit status and the output since the last read.
    package func finish() async -> (drawn: String, status: Int32) {
        let process = process
        let drawn = await blocking { terminal in
            var (drawn, hasEnded) = ([UInt8](), false)
            while true {
                if let bytes = Self.bytes(from: terminal, within: hasEnded ? 0 : 50) {
                    drawn += bytes
                } else if hasEnded {
                    return String(decoding: drawn, as: UTF8.self)
                } else {
                    hasEnded = !process.isRunning
                }
            }
        }
        process.waitUntilExit()
        return (drawn, process.terminationStatus)
    }

    private static func bytes(from terminal: Int32, within milliseconds: Int32) -> [UInt8]? {
        var descriptor = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(terminal, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }

    private func blocking<Value: Sendable>(_ work: @escaping @Sendable (Int32) -> Value) async -> Value {
        let terminal = terminal
        return await withCheckedContinuation { done in
            DispatchQueue.global().async { done.resume(returning: work(terminal)) }
        }
    }
}
