import NIOCore
import NIOPosix
import Synchronization

/// A TCP connection to a server on loopback, on which a test sends exact bytes.
struct RawConnection {
    struct Answer {
        var status: Int
        /// Header values by lower-case name.
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var received = ByteBuffer()

    /// - Parameters:
    ///   - address: the address on loopback that the connection comes from.
    ///   - receiveBuffer: bytes that the system buffers before the test reads them; `nil` for the system's default.
    static func open(
        port: Int?, from address: String = "127.0.0.1", receiveBuffer: Int? = nil,
        _ body: @Sendable (inout RawConnection) async throws -> Void
    ) async throws {
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: try SocketAddress(ipAddress: address, port: 0))
        if let receiveBuffer {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(receiveBuffer))
        }
        let channel =
            try await bootstrap
            .connect(host: "127.0.0.1", port: port ?? 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let failure = Failure()
        // Closing fails if the server closed first. Only the error of `body` counts.
        try? await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            do {
                try await body(&connection)
            } catch {
                failure.error.withLock { $0 = error }
            }
        }
        if let error = failure.error.withLock({ $0 }) { throw error }
    }

    /// Sends a request on a new connection. Returns the answer, or `nil` if the server closes the connection first. A test's
    /// client would send its requests one after the other.
    static func get(_ path: String, headers: [String] = [], port: Int?) async throws -> Answer? {
        let (answers, answer) = AsyncStream.makeStream(of: Answer?.self)
        try await open(port: port) { connection in
            let fields = headers.map { $0 + "\r\n" }.joined()
            try await connection.send("GET \(path) HTTP/1.1\r\nHost: test\r\n\(fields)\r\n")
            answer.yield(try await connection.answer())
        }
        return await answers.first { _ in true } ?? nil
    }

    private final class Failure: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    private init(
        inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound
        self.outbound = outbound
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Sends `text` after 5 ms.
    func drip(_ text: String) async throws {
        try await Task.sleep(for: .milliseconds(5))
        try await send(text)
    }

    /// Sends a whole POST request with its length.
    func post(_ body: [UInt8], to path: String = "/v1/metrics", headers: [String] = []) async throws {
        let given = headers.contains { $0.lowercased().hasPrefix("content-type") }
        let lines = given ? headers : headers + ["Content-Type: application/x-protobuf"]
        let fields = lines.map { $0 + "\r\n" }.joined()
        try await send("POST \(path) HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.count)\r\n\(fields)\r\n")
        try await send(body)
    }

    /// Returns the next answer, or `nil` if the server closes the connection first.
    mutating func answer(toHead: Bool = false) async throws -> Answer? {
        guard let head = try await read(through: "\r\n\r\n") else { return nil }
        let lines = head.split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingPrefix(" ") }
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1]) : ""
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let length = toHead ? 0 : Int(headers["content-length"] ?? "0") ?? 0
        guard let body = try await read(length) else { return nil }
        return Answer(status: status, headers: headers, body: body)
    }

    /// Returns all that the server sends until it closes the connection.
    mutating func rest() async throws -> String {
        while try await more() {}
        return String(buffer: received)
    }

    /// Returns whether the server closes the connection without sending a byte.
    mutating func isClosed() async -> Bool {
        (try? await more()) != true && received.readableBytes == 0
    }

    private mutating func read(through end: String) async throws -> String? {
        while true {
            let bytes = Array(received.readableBytesView)
            if let index = bytes.indices.first(where: { bytes[$0...].starts(with: Array(end.utf8)) }) {
                return received.readString(length: index + end.utf8.count)
            }
            guard try await more() else { return nil }
        }
    }

    private mutating func read(_ count: Int) async throws -> [UInt8]? {
        while received.readableBytes < count {
            guard try await more() else { return nil }
        }
        return received.readBytes(length: count)
    }

    private mutating func more() async throws -> Bool {
        guard var part = try await inbound.next() else { return false }
        received.writeBuffer(&part)
        return true
    }
}
