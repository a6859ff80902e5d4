import Fixtures
import Foundation
import Testing

@testable import Martlet

/// Whether each transport knows if a failed upload can have reached the server.
@Suite struct SentBytesTests {
    typealias Transport = MartletConfiguration.Transport

    /// A server that takes uploads over one connection, and closes the connection and its port before the last answer.
    private final class LeavingServer: Sendable {
        let address: String

        init(answers: Int) throws {
            let (listener, port) = try Loopback.listen()
            address = "http://127.0.0.1:\(port)/v1/metrics"
            Thread {
                guard let connection = Loopback.accept(from: listener) else { return }
                for _ in 0..<answers {
                    Self.readUpload(from: connection)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
                }
                Self.readUpload(from: connection)
                shutdown(listener, Int32(SHUT_RDWR))
                close(listener)
                connection.close()
            }.start()
        }

        private static func readUpload(from connection: Connection) {
            var bytes: [UInt8] = []
            while !bytes.suffix(SentBytesTests.body.count).elementsEqual(SentBytesTests.body) {
                let part = connection.read()
                if part.isEmpty { return }
                bytes += part
            }
        }
    }

    private static let body = Array("the end of the batch".utf8)

    /// Posts several uploads in sequence on a separate thread, like the agent.
    ///
    /// - Returns: the end of the last one.
    private static func post(
        _ uploads: Int, to url: String, over transport: Transport, proxy: URL? = nil
    ) async -> UploadEnd? {
        await withCheckedContinuation { done in
            Thread {
                let way: (any UploadTransport)? = transport == .libcurl ? LibcurlTransport() : URLSessionTransport()
                var end: UploadEnd?
                for _ in 0..<uploads {
                    way?.start(Upload(url: url, headers: [], body: body, timeout: .seconds(10), proxy: proxy))
                    end = nil
                    while let way, end == nil { end = way.proceed(for: .seconds(1)) }
                    way?.cancel()
                }
                done.resume(returning: end)
            }.start()
        }
    }

    private func mayHaveArrived(_ end: UploadEnd?) throws -> Bool {
        guard case .failed(let mayHaveArrived, _) = end else { throw CocoaError(.featureUnsupported) }
        return mayHaveArrived
    }

    @Test(arguments: Transport.allCases) func nothingArrivesOverARefusedConnection(transport: Transport) async throws {
        let end = await Self.post(1, to: "http://127.0.0.1:1/v1/metrics", over: transport)
        #expect(try !mayHaveArrived(end))
    }

    @Test(arguments: Transport.allCases)
    func requestMayHaveArrivedIfTheConnectionEndsAfterIt(transport: Transport) async throws {
        let server = try LeavingServer(answers: 0)
        let end = await Self.post(1, to: server.address, over: transport)
        #expect(try mayHaveArrived(end))
    }

    /// libcurl counts the bytes of the request for a tunnel, too.
    @Test func nothingArrivesOverAProxyThatRefusesTheTunnel() async throws {
        let proxy = try RefusingProxy()
        let end = await Self.post(
            1, to: "https://collector.example.com/v1/metrics", over: .libcurl,
            proxy: URL(string: "http://127.0.0.1:\(proxy.port)"))
        #expect(try !mayHaveArrived(end))
        #expect(proxy.heads.count == 1)
    }

    /// libcurl tries again over a new connection, which is refused, and reports only that.
    @Test(arguments: Transport.allCases)
    func requestMayHaveArrivedIfAnEarlierConnectionEndsAfterIt(transport: Transport) async throws {
        let server = try LeavingServer(answers: 1)
        let end = await Self.post(2, to: server.address, over: transport)
        #expect(try mayHaveArrived(end))
    }
}
