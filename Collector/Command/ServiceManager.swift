import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Notifies systemd of the collector's state with a datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)). Without
/// the variable it does nothing.
struct ServiceManager: Sendable {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// The interval within which systemd expects a keep-alive; `nil` if it expects none.
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

    func notify(_ state: State) async {
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

/// Notifies systemd when the collector listens and when it is about to stop. It is the first service to be stopped.
struct ReadinessNotifier: Service {
    let manager: ServiceManager
    /// Yields a value for each address that the collector listens at.
    let listening: AsyncStream<Void>
    /// The number of addresses.
    let addresses: Int

    func run() async throws {
        var heard = 0
        for await _ in listening.cancelOnGracefulShutdown() {
            heard += 1
            if heard == addresses { await manager.notify(.ready) }
        }
        await manager.notify(.stopping)
    }
}

/// Sends systemd a keep-alive at intervals, each time after all event loops have run a task. It runs on the threads of Swift's
/// tasks, so those must work too. If any of these threads hangs, systemd gets no keep-alive and restarts the collector.
struct Watchdog: Service {
    let manager: ServiceManager
    /// The interval within which systemd expects a keep-alive.
    let period: Duration

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
                    try await eventLoop.submit {}.get()
                }
                await manager.notify(.alive)
                try await Task.sleep(for: period / 2)
            }
        }
    }
}
