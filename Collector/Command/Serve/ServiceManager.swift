import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

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
            logger.warning("systemd could not be notified of the collector's state", metadata: ["error": "\(error)"])
        }
    }
}

/// Tells systemd when the collector listens and when it is about to stop. It is the first service to be stopped.
struct ServiceNews: Service {
    let manager: ServiceManager
    /// Has a value for each address that the collector listens at.
    let listening: AsyncStream<Void>
    /// The number of addresses.
    let addresses: Int

    func run() async throws {
        var heard = 0
        for await _ in listening.cancelOnGracefulShutdown() {
            heard += 1
            if heard == addresses { await manager.tell(.ready) }
        }
        await manager.tell(.stopping)
    }
}

/// Tells systemd at intervals that the collector is alive: each thread that answers connections has come round, and so have the
/// threads of the tasks, on which this runs. If one hangs, systemd hears nothing and starts the collector anew.
struct Watchdog: Service {
    let manager: ServiceManager
    /// The time within which systemd wants to hear something.
    let period: Duration

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
                    try await eventLoop.submit {}.get()
                }
                await manager.tell(.alive)
                try await Task.sleep(for: period / 2)
            }
        }
    }
}
