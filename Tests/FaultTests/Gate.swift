import Fixtures
import Foundation
import Synchronization

/// A proxy between the agent and the collector that disturbs the uploads. It closes when the value is released.
final class Gate: Sendable {
    struct Upload: Sendable {
        let message: UploadMessage
        let treatment: Treatment
        let time: ContinuousClock.Instant
    }

    private struct State {
        var uploads: [Upload] = []
        var connections: [Int: Connection] = [:]
        var connectionCount = 0
        var isClosed = false
    }

    let port: Int
    private let listener: Int32
    private let collector: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - collector: The collector's port.
    ///   - decide: Returns the treatment of an upload, given the uploads that came before it.
    init(collector: Int, _ decide: @escaping @Sendable (UploadMessage, _ earlier: [Upload]) -> Treatment) throws {
        (listener, port) = try Loopback.listen()
        self.collector = collector
        Thread { [weak self, listener] in
            while let connection = Loopback.accept(from: listener) {
                guard let number = self?.open(connection) else { return connection.close() }
                Thread { [weak self] in self?.serve(connection, number, decide) }.start()
            }
        }.start()
    }

    deinit { close() }

    var uploads: [Upload] { state.withLock { $0.uploads } }

    /// Whether an upload is being treated.
    var isBusy: Bool { state.withLock { !$0.connections.isEmpty } }

    func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            for connection in state.connections.values { connection.shutDown() }
            return !state.isClosed
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        Foundation.close(listener)
    }

    private func open(_ connection: Connection) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.connectionCount += 1
            state.connections[state.connectionCount] = connection
            return state.connectionCount
        }
    }

    private func forget(_ number: Int) { _ = state.withLock { $0.connections.removeValue(forKey: number) } }

    /// Serves one upload. The answer closes the connection, so the agent opens another one for its next upload.
    private func serve(
        _ agent: Connection, _ number: Int, _ decide: @Sendable (UploadMessage, [Upload]) -> Treatment
    ) {
        let treatment = UploadMessage(from: agent).map { treat($0, from: agent, decide) }
        // The connection is removed from the list first: once it is closed, its descriptor may belong to another
        // connection when ``close()`` runs.
        forget(number)
        treatment?.endsWithReset == true ? agent.reset() : agent.close()
    }

    private func treat(
        _ message: UploadMessage, from agent: Connection, _ decide: @Sendable (UploadMessage, [Upload]) -> Treatment
    ) -> Treatment {
        let treatment = state.withLock { state in
            let treatment = decide(message, state.uploads)
            state.uploads.append(Upload(message: message, treatment: treatment, time: .now))
            return treatment
        }
        treatment.apply(to: message, from: agent, collector: collector)
        return treatment
    }
}

extension Treatment {
    fileprivate var endsWithReset: Bool { self == .reset || self == .storeThenReset }

    /// Applies the treatment up to the end of the agent's connection, which the caller closes.
    fileprivate func apply(to message: UploadMessage, from agent: Connection, collector: Int) {
        switch self {
        case .pass:
            agent.write(Self.forward(message.bytes, to: collector))
        case .delay(let milliseconds):
            Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
            agent.write(Self.forward(message.bytes, to: collector))
        case .hang:
            _ = agent.readToEnd()
        case .answer(let status, let retryAfter):
            let wait = retryAfter.map { "Retry-After: \($0)\r\n" } ?? ""
            agent.write("HTTP/1.1 \(status) Refused\r\n\(wait)Content-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        case .reset, .drop:
            break
        case .storeThenReset:
            _ = Self.forward(message.bytes, to: collector)
        case .storeThenHang:
            _ = Self.forward(message.bytes, to: collector)
            _ = agent.readToEnd()
        case .cutRequest(let percent):
            Self.leave(message.bytes.prefix(message.bytes.count * percent / 100), at: collector)
        case .cutAnswer(let bytes):
            agent.write(Self.forward(message.bytes, to: collector).prefix(bytes))
        case .duplicate:
            let twin = Thread { _ = Self.forward(message.bytes, to: collector) }
            twin.start()
            agent.write(Self.forward(message.bytes, to: collector))
        }
    }

    /// Returns the collector's whole answer; empty if the collector is down.
    private static func forward(_ bytes: [UInt8], to collector: Int) -> [UInt8] {
        guard let connection = Connection(port: collector) else { return [] }
        defer { connection.close() }
        connection.write(bytes)
        return connection.readToEnd()
    }

    private static func leave(_ bytes: some Collection<UInt8>, at collector: Int) {
        guard let connection = Connection(port: collector) else { return }
        connection.write(bytes)
        connection.close()
    }
}
