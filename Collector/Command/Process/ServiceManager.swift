import Foundation
import Logging
import NIOCore
import NIOPosix

/// Tells systemd about the collector: a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)). Without the variable
/// it tells nobody.
struct ServiceManager: Sendable {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// The time within which systemd wants to hear that the collector is alive; `nil` if it does not wait for that.
    let watchdog: Duration?
    private let socket: String?
    private let logger: Logger

    init(_ variables: [String: String], logger: Logger) {
        self.logger = logger
        socket = variables["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isMeant = variables["WATCHDOG_PID"].map { $0 == "\(ProcessInfo.processInfo.processIdentifier)" } ?? true
        let time = variables["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        watchdog = socket != nil && isMeant ? time.map { .microseconds($0) } : nil
    }

    func tell(_ state: State) async {
        guard let socket else { return }
        do {
            let address = try SocketAddress(unixDomainSocketPath: socket)
            let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(to: address).get()
            let message = AddressedEnvelope(remoteAddress: address, data: ByteBuffer(string: state.rawValue))
            try await channel.writeAndFlush(message)
            try await channel.close()
        } catch {
            logger.warning("systemd could not be told of the collector's state", metadata: ["error": "\(error)"])
        }
    }
}
