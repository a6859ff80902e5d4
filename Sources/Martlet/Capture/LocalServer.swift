#if os(Linux)
import CMartletHooks
import Dispatch
import Foundation

/// A server for one request within the process: it reads the request that libcurl sends, and answers it.
///
/// `@unchecked Sendable` because its state changes only on its serial queue.
final class LocalServer: @unchecked Sendable {
    private static let queue = DispatchQueue(label: "martlet.rules")

    /// Initializes the type's lazy values before the first request (see ``ForkedChild/prepare()``).
    static func initializeStatics() { _ = (queue, proceed) }

    private let answer: [UInt8]
    private var source: (any DispatchSourceProtocol)?
    private var request = RequestEndScanner()

    /// - Parameter answer: the bytes of an HTTP/1.1 response.
    init(_ answer: [UInt8]) {
        self.answer = answer
    }

    /// Waits for a connection.
    ///
    /// - Parameter listener: a listening socket, which belongs to the server from now on.
    func listen(_ listener: OwnDescriptor) {
        Self.queue.async { [self] in
            // A task that is suspended and resumed sends its request again.
            request = RequestEndScanner()
            watch(DispatchSource.makeReadSource(fileDescriptor: listener.number, queue: Self.queue)) { [self] in
                let connection = martlet_accept(listener.number)
                if connection >= 0 { serve(OwnDescriptor(number: connection)) }
            }
        }
    }

    /// Closes all descriptors. The server is not used again.
    func stop() {
        Self.queue.async { [self] in watch(nil) {} }
    }

    /// Waits for events of another source and stops waiting for those of the previous one.
    private func watch(_ next: (any DispatchSourceProtocol)?, _ event: @escaping @Sendable () -> Void) {
        source?.cancel()
        source = next
        next?.setEventHandler(handler: event)
        next?.resume()
    }

    private func serve(_ connection: OwnDescriptor) {
        watch(DispatchSource.makeReadSource(fileDescriptor: connection.number, queue: Self.queue)) { [self] in
            read(connection)
        }
    }

    private func read(_ connection: OwnDescriptor) {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = bytes.withUnsafeMutableBytes { Foundation.read(connection.number, $0.baseAddress, $0.count) }
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { watch(nil) {} }
            return
        }
        if request.take(Array(bytes.prefix(count))) { return write(answer[...], to: connection) }
        guard request.takeExpectation() else { return }
        _ = Self.proceed.withUnsafeBytes { martlet_send(connection.number, $0.baseAddress, UInt($0.count)) }
    }

    /// The answer that a client waits for before it sends a body (RFC 9110, section 10.1.1).
    private static let proceed = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private func write(_ bytes: ArraySlice<UInt8>, to connection: OwnDescriptor) {
        let count = bytes.withUnsafeBytes { martlet_send(connection.number, $0.baseAddress, UInt($0.count)) }
        guard count >= 0 || errno == EAGAIN || errno == EINTR else { return watch(nil) {} }
        let rest = bytes.dropFirst(max(0, count))
        guard !rest.isEmpty else { return watch(nil) {} }
        watch(DispatchSource.makeWriteSource(fileDescriptor: connection.number, queue: Self.queue)) { [self] in
            write(rest, to: connection)
        }
    }
}
#endif
