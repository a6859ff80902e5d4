import Foundation
import Synchronization

/// A third-party server, which may be killed and restarted. It ends with the value, or with the tests at the latest.
final class ServerProcess: Sendable {
    private let command: [String]
    private let folder: URL
    private let root: URL
    /// 0 while it is not running.
    private let pid = Mutex<pid_t>(0)

    /// - Parameters:
    ///   - command: the program's path and its arguments.
    ///   - folder: the folder of its data.
    ///   - root: the folder that is deleted with the tests; `nil` for the folder of the data.
    init(_ command: [String], in folder: URL, of root: URL? = nil) {
        self.command = command
        self.folder = folder
        self.root = root ?? folder
    }

    deinit { kill() }

    /// Starts the program and returns before it answers.
    func start() throws {
        let file = folder.appendingPathComponent("pid")
        try? FileManager.default.removeItem(at: file)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", Self.script, "server", "\(getpid())", folder.path, root.path] + command
        shell.environment = ["PATH": ChildProcess.Program.path]
        shell.currentDirectoryURL = folder
        try shell.run()
        shell.waitUntilExit()
        guard let text = try? String(contentsOf: file, encoding: .utf8), let number = pid_t(text.dropLast()) else {
            throw CocoaError(.executableLoad)
        }
        pid.withLock { $0 = number }
    }

    /// Kills the program with SIGKILL and returns when it is gone.
    func kill() {
        let pid = pid.withLock { pid in
            defer { pid = 0 }
            return pid
        }
        guard pid > 0 else { return }
        Foundation.kill(pid, SIGKILL)
        while Foundation.kill(pid, 0) == 0 { Thread.sleep(forTimeInterval: 0.002) }
    }

    /// Starts a command that ends with a process, and then removes a folder. The command inherits no descriptor of the tests:
    /// Foundation's `Process` notices the end of a child through a socket that every later child inherits, and would wait for
    /// this one.
    private static let script = """
        tests=$1 folder=$2 root=$3
        shift 3
        (
            for descriptor in /proc/$BASHPID/fd/*; do
                number=${descriptor##*/}
                ((number < 3)) || eval "exec $number>&-"
            done
            "$@" &
            echo $! >"$folder/pid.new" && mv "$folder/pid.new" "$folder/pid"
            tail --pid="$tests" -f /dev/null &
            wait -n
            kill -9 %1 %2
            wait
            kill -0 "$tests" || rm -rf "$root"
        ) </dev/null >"$folder/output" 2>&1 &
        until [[ -e $folder/pid ]]; do sleep 0.01; done
        """
}
