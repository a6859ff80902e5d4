import Logging
import NIOCore

/// Logs what to change if a new connection begins with another protocol. The connection's parser then refuses its bytes.
final class OtherProtocolWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let reason = Self.reason(unwrapInboundIn(data).readableBytesView) {
            logger.refusal(status: 400, reason: reason, address: context.channel.remoteAddress?.ipAddress ?? "")
        }
        context.fireChannelRead(data)
        // Only the first bytes of a connection can be another protocol's greeting.
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    /// Returns what the operator should change; `nil` if the connection may begin with a request of HTTP/1.
    private static func reason(_ bytes: ByteBufferView) -> String? {
        greetings.first { bytes.starts(with: $0.bytes) }?.reason
    }

    private static let greetings: [(bytes: [UInt8], reason: String)] = [
        // RFC 9113, section 3.4.
        (
            Array("PRI * HTTP/2".utf8),
            "the client speaks HTTP/2, perhaps gRPC; send OTLP over HTTP/1.1 (OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf)"
        ),
        // RFC 8446, section 5.1: a handshake, and the version that every client writes here.
        (
            [0x16, 0x03],
            "the client speaks TLS, but this address does not; use http://, or set --tls-certificate and --tls-key"
        ),
    ]
}
