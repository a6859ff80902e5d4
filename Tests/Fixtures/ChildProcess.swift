import Foundation
import Synchronization

/// A real process of one of the package's programs; it is killed when the value is released.
package final class ChildProcess: Sendable {
    package struct Failure: Error {
        package let output: String

        package init(output: String) { self.output = output }
    }

    package struct Program: Sendable {
        package static let martletCollector = built("martlet-collector")
        package static let probeService = built("ProbeService")
        package static let chainService = built("ChainService")
        package static let tracerProgram = built("TracerProgram")
        package static let faultProgram = built("FaultProgram")
        package static let forkProgram = built("ForkProgram")
        package static let shopper = built("Shopper")
        package static let parityProgram = built("ParityProgram")

        /// The folder with the programs that the recipes' package built, `MARTLET_RECIPES`; `nil` if it was not built.
        package static let recipes = ProcessInfo.processInfo.environment["MARTLET_RECIPES"]

        /// A program of `Examples/Recipes`, built by its own package or by Martlet's.
        package static func recipe(_ name: String) -> Program {
            guard let recipes else { return built("\(name)Recipe") }
            return Program(url: URL(fileURLWithPath: recipes).appendingPathComponent("\(name)Recipe"))
        }

        package let url: URL

        package init(url: URL) { self.url = url }

        /// A program in the same folder as the tests' executable.
        private static func built(_ name: String) -> Program {
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            return Program(url: tests.deletingLastPathComponent().appendingPathComponent(name))
        }
    }

    package let pid: pid_t
    private let process: Mutex<Process>
    private let output = Pipe()
    private let errors: URL

    /// Starts the program with exactly this environment.
    package init(_ program: Program, _ arguments: [String], environment: [String: String] = [:]) throws {
        errors = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString).stderr")
        try Data().write(to: errors)
        let process = Process()
        process.executableURL = program.url
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        pid = process.processIdentifier
        self.process = Mutex(process)
    }

    deinit {
        _ = blockingStop(with: SIGKILL)
        try? FileManager.default.removeItem(at: errors)
    }

    /// Returns the next line of the output. At the end of the process, returns the incomplete last line.
    package func readLine() async -> String {
        await Self.blocking { self.blockingReadLine() }
    }

    /// Returns when the process has written `text` to its standard error.
    package func hasLogged(_ text: String) async throws {
        while try !String(contentsOf: errors, encoding: .utf8).contains(text) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Runs the process to its end.
    package func finish() async -> (status: Int32, output: String, errors: String) {
        await Self.blocking { self.blockingFinish() }
    }

    /// Sends a signal and returns the exit status, or -1 if the signal ended the process.
    @discardableResult package func stop(with signal: Int32) async -> Int32 {
        await Self.blocking { self.blockingStop(with: signal) }
    }

    /// Runs blocking work off the threads of the tasks' pool. On a machine with two cores, the pool has only two.
    private static func blocking<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            DispatchQueue.global().async { done.resume(returning: work()) }
        }
    }

    private func blockingReadLine() -> String {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        return String(decoding: line, as: UTF8.self)
    }

    private func blockingFinish() -> (status: Int32, output: String, errors: String) {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let status = process.withLock { process in
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -1
        }
        let complaint = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        return (status, text, complaint)
    }

    private func blockingStop(with signal: Int32) -> Int32 {
        process.withLock { process in
            if process.isRunning { Foundation.kill(pid, signal) }
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -1
        }
    }

    /// Returns the names of the process's threads now.
    package func threadNames() -> [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return tasks.compactMap { task in
            let name = try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/comm", encoding: .utf8)
            return name?.trimmingCharacters(in: .newlines)
        }
    }
}
