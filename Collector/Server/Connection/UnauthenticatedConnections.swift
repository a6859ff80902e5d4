import NIOCore
import Synchronization

/// The connections that have not shown a token yet. A sender shows its token in the first milliseconds. Past the limit, the
/// oldest of these connections is closed, so a host without a token cannot use up all connections. Safe to use from any task.
final class UnauthenticatedConnections: Sendable {
    fileprivate struct State {
        var connections: [UInt64: any Channel] = [:]
        var numbers: [ObjectIdentifier: UInt64] = [:]
        /// No connection has a lower number.
        var oldest: UInt64 = 0
        var next: UInt64 = 0
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: the maximum number of connections at a time.
    init(most: Int) {
        self.most = max(1, most)
    }

    /// Adds a connection. It stays until it shows a token or is closed.
    func add(_ channel: any Channel) {
        let crowdedOut = state.withLock { state in
            state.add(channel)
            return state.connections.count > most ? state.takeOldest() : nil
        }
        crowdedOut?.close(promise: nil)
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.take(id) } }
    }

    /// Removes a connection that has shown a token, so it no longer counts towards the limit.
    func markAuthenticated(_ channel: any Channel) {
        state.withLock { _ = $0.take(ObjectIdentifier(channel)) }
    }

    func contains(_ channel: any Channel) -> Bool {
        state.withLock { $0.numbers[ObjectIdentifier(channel)] != nil }
    }
}

extension UnauthenticatedConnections.State {
    fileprivate mutating func add(_ channel: any Channel) {
        connections[next] = channel
        numbers[ObjectIdentifier(channel)] = next
        next += 1
    }

    fileprivate mutating func take(_ id: ObjectIdentifier) -> (any Channel)? {
        numbers.removeValue(forKey: id).flatMap { connections.removeValue(forKey: $0) }
    }

    /// Numbers ascend, so this passes each number once.
    fileprivate mutating func takeOldest() -> (any Channel)? {
        while oldest < next {
            defer { oldest += 1 }
            if let channel = connections[oldest] { return take(ObjectIdentifier(channel)) }
        }
        return nil
    }
}
