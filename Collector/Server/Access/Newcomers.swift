import NIOCore
import Synchronization

/// The connections that have not shown a token yet. Past their limit the oldest is closed, so a host without a token cannot
/// take all places: a sender shows its token in the first milliseconds. Safe to use from any task.
final class Newcomers: Sendable {
    fileprivate struct State {
        var connections: [UInt64: any Channel] = [:]
        var numbers: [ObjectIdentifier: UInt64] = [:]
        /// No connection has a lower number.
        var oldest: UInt64 = 0
        var next: UInt64 = 0
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: connections at a time.
    init(most: Int) {
        self.most = max(1, most)
    }

    /// Adds a connection until it shows a token or is closed.
    func enter(_ channel: any Channel) {
        let crowdedOut = state.withLock { state in
            state.add(channel)
            return state.connections.count > most ? state.takeOldest() : nil
        }
        crowdedOut?.close(promise: nil)
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.take(id) } }
    }

    /// Gives the connection, which has shown a token, a place among all.
    func admit(_ channel: any Channel) {
        state.withLock { _ = $0.take(ObjectIdentifier(channel)) }
    }

    func contains(_ channel: any Channel) -> Bool {
        state.withLock { $0.numbers[ObjectIdentifier(channel)] != nil }
    }
}

extension Newcomers.State {
    fileprivate mutating func add(_ channel: any Channel) {
        connections[next] = channel
        numbers[ObjectIdentifier(channel)] = next
        next += 1
    }

    fileprivate mutating func take(_ id: ObjectIdentifier) -> (any Channel)? {
        numbers.removeValue(forKey: id).flatMap { connections.removeValue(forKey: $0) }
    }

    /// Numbers ascend, so each is passed once.
    fileprivate mutating func takeOldest() -> (any Channel)? {
        while oldest < next {
            defer { oldest += 1 }
            if let channel = connections[oldest] { return take(ObjectIdentifier(channel)) }
        }
        return nil
    }
}
