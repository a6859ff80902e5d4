import Foundation
import Logging
import MartletTelemetry
import Synchronization

/// The agent's messages in the service's log: few, and one for each condition until it changes.
final class AgentLog: Sendable {
    /// A condition that the agent warns of once, until ``noteEnd(of:_:)``.
    enum Condition: Hashable {
        case directory
        case buffer
        case bufferFull
        case encoding
        case journal
        /// A collector answers for no signal, or asks the agent to wait.
        case collector(URL)
        case upload(Signal, to: URL)
        /// Batches that wait for other addresses than the agent's own.
        case elsewhere([URL]?)
        case rejected
        case hooks
        case off
    }

    private let given: Logger?
    private let level: Logger.Level
    private let warned = Lock<Set<Condition>>([])

    init(_ configuration: MartletConfiguration) {
        given = configuration.logger
        level = configuration.logLevel
    }

    /// Logs a fact that the service should know though nothing is wrong. The default of `MARTLET_LOG_LEVEL` lets it through,
    /// a stricter level does not. The service's own level applies as well.
    func notice(_ message: String) {
        if level <= .warning { (given ?? Logger(label: "martlet")).notice("\(message)") }
    }

    func warning(_ message: String) { log(.warning, message) }

    func warn(of condition: Condition, _ message: String) {
        if warned.withLock({ $0.insert(condition).inserted }) { log(.warning, message) }
    }

    /// Logs the end of a condition, at the same level as ``warn(of:_:)``; does nothing if that logged no warning.
    func noteEnd(of condition: Condition, _ message: String) {
        if warned.withLock({ $0.remove(condition) != nil }) { log(.warning, message) }
    }

    /// Logs over a logger made anew, because the service may bootstrap its logging after it started the agent.
    private func log(_ level: Logger.Level, _ message: String) {
        guard level >= self.level else { return }
        var logger = given ?? Logger(label: "martlet")
        logger.logLevel = self.level
        logger.log(level: level, "\(message)")
    }
}
