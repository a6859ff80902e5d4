import Foundation
import Martlet

/// A process that makes requests when it is told to, one round at a time.
final class Worker {
    private let mode: Mode
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var requests = 0

    init(_ mode: Mode, server: String) throws {
        self.mode = mode
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["work", "--mode", mode.rawValue, "--server", server]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func run(_ load: Load) throws -> Round {
        requests += load.requests
        try input.fileHandleForWriting.write(contentsOf: try Line.encode(load))
        return try answer()
    }

    /// A figure stands only if the agent did all of its work for it.
    func end() throws {
        try input.fileHandleForWriting.close()
        let account: Account = try answer()
        process.waitUntilExit()
        guard mode == .agent else { return }
        guard account.captured == requests, account.delivered == requests else {
            throw Failure(
                "The agent counted \(account.captured) and delivered \(account.delivered) of \(requests) requests.")
        }
    }

    /// A line is shorter than what a pipe takes at once, so that it arrives whole.
    private func answer<T: Decodable>() throws -> T {
        let line = output.fileHandleForReading.availableData
        guard !line.isEmpty else { throw Failure("A worker (\(mode)) ended early.") }
        return try JSONDecoder().decode(T.self, from: line)
    }
}

/// What driver and worker say to each other: a line of JSON each.
enum Line {
    static func encode(_ value: some Encodable) throws -> Data { try JSONEncoder().encode(value) + Data("\n".utf8) }
}

enum Mode: String, CaseIterable {
    /// The agent is linked and never started.
    case bare
    /// The agent runs as the environment has it.
    case agent
}

struct Load: Codable {
    var concurrency: Int
    var requests: Int
}

/// What one round took.
struct Round: Codable {
    /// Microseconds a request: of all threads, in user and kernel.
    var cpu: Double
    /// Milliseconds.
    var p50: Double
    var p99: Double
}

/// What the agent says of itself at the end.
struct Account: Codable {
    var captured = 0
    var delivered = 0
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
