import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The real program.
enum CollectorProgram {
    struct Failure: Error {
        var output: String
    }

    /// Beside the tests' own executable.
    static var url: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("martlet-collector")
    }

    /// Runs it to its end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = url
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, complaint)
    }
}

/// kill(2) by another name, for ``CollectorProcess`` has a method of that one.
private let sendSignal: @Sendable (pid_t, Int32) -> Int32 = { kill($0, $1) }

/// A running `martlet-collector serve`; killed with the value.
final class CollectorProcess {
    private let process = Process()
    /// As it was printed: `http://127.0.0.1:…`
    let address: String

    /// Returns when it listens.
    init(store: String, environment: [String: String] = [:]) throws {
        let output = Pipe()
        process.executableURL = CollectorProgram.url
        process.arguments = ["serve", "--port", "0", "--store", "sqlite:" + store]
        process.environment = environment
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw CollectorProgram.Failure(output: text) }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let start = text.range(of: "listening on ") else { throw CollectorProgram.Failure(output: text) }
        address = text[start.upperBound...].trimmingCharacters(in: .newlines)
    }

    deinit {
        kill()
    }

    /// SIGKILL: no handler runs.
    func kill() {
        stop(with: SIGKILL)
    }

    /// The exit status after SIGTERM.
    func terminate() -> Int32 {
        stop(with: SIGTERM)
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    func post(_ body: [UInt8], batch: String) async throws -> Int {
        guard let url = URL(string: address + "/v1/metrics") else { return 0 }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-protobuf", forHTTPHeaderField: "Content-Type")
        request.setValue(batch, forHTTPHeaderField: "Martlet-Batch")
        request.httpBody = Data(body)
        let (_, response) = try await URLSession.shared.data(for: request)
        return (response as? HTTPURLResponse)?.statusCode ?? 0
    }

    private func stop(with signal: Int32) {
        guard process.isRunning else { return }
        _ = sendSignal(process.processIdentifier, signal)
        process.waitUntilExit()
    }
}
