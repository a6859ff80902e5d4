import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A running `martlet-collector serve`; it is killed when the value is released.
package final class CollectorProcess: Sendable {
    /// The address as the collector printed it: `http://127.0.0.1:…`
    package let address: String
    private let process: ChildProcess

    /// Starts the collector and returns when it listens.
    ///
    /// - Parameters:
    ///   - store: the path of a file, or `clickhouse:…`. See ``TestedStore/location(of:)``.
    ///   - port: 0 takes a free port.
    package init(store: String, port: Int = 0, environment: [String: String] = [:]) async throws {
        let store = try await TestedStore.location(of: store)
        process = try ChildProcess(
            .martletCollector, ["serve", "--port", "\(port)", "--store", store], environment: environment)
        let line = await process.readLine()
        guard let start = line.range(of: "listening on ") else { throw ChildProcess.Failure(output: line) }
        address = String(line[start.upperBound...])
    }

    package var port: Int { URL(string: address)?.port ?? 0 }

    /// Kills the collector with SIGKILL, so that no handler runs.
    package func kill() async { await process.stop(with: SIGKILL) }

    /// Sends a signal that does not end the collector.
    package func signal(_ signal: Int32) { Foundation.kill(process.pid, signal) }

    /// See ``ChildProcess/hasLogged(_:)``.
    package func hasLogged(_ text: String) async throws { try await process.hasLogged(text) }

    /// Ends the collector with SIGTERM and returns its exit status.
    package func terminate() async -> Int32 { await process.stop(with: SIGTERM) }

    /// The most memory that the process ever held, in bytes (proc(5), VmHWM).
    package var peakResidentBytes: Int? {
        let status = try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    package func post(_ body: [UInt8], batch: String) async throws -> Int {
        try await post(body, headers: ["Content-Type": "application/x-protobuf", "Martlet-Batch": batch])
    }

    /// Posts a body to the route of metrics.
    ///
    /// - Returns: The status of the answer.
    package func post(_ body: [UInt8], headers: [String: String]) async throws -> Int {
        guard let url = URL(string: address + "/v1/metrics") else { return 0 }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        // On a busy machine, a debug build needs more than the usual minute for the worst bodies.
        request.timeoutInterval = 600
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = Data(body)
        let (_, response) = try await URLSession.shared.data(for: request)
        return (response as? HTTPURLResponse)?.statusCode ?? 0
    }
}
