import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A running `martlet-collector serve`; killed with the value.
package final class CollectorProcess: Sendable {
    /// As it was printed: `http://127.0.0.1:…`
    package let address: String
    private let process: ChildProcess

    /// Returns when it listens.
    ///
    /// - Parameter port: 0 takes a free one.
    package init(store: String, port: Int = 0, environment: [String: String] = [:]) async throws {
        process = try ChildProcess(
            .martletCollector, ["serve", "--port", "\(port)", "--store", "sqlite:" + store], environment: environment)
        let line = await process.readLine()
        guard let start = line.range(of: "listening on ") else { throw ChildProcess.Failure(output: line) }
        address = String(line[start.upperBound...])
    }

    package var port: Int { URL(string: address)?.port ?? 0 }

    /// SIGKILL: no handler runs.
    package func kill() async { await process.stop(with: SIGKILL) }

    /// The exit status after SIGTERM.
    package func terminate() async -> Int32 { await process.stop(with: SIGTERM) }

    package func post(_ body: [UInt8], batch: String) async throws -> Int {
        guard let url = URL(string: address + "/v1/metrics") else { return 0 }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-protobuf", forHTTPHeaderField: "Content-Type")
        request.setValue(batch, forHTTPHeaderField: "Martlet-Batch")
        request.httpBody = Data(body)
        let (_, response) = try await URLSession.shared.data(for: request)
        return (response as? HTTPURLResponse)?.statusCode ?? 0
    }
}
