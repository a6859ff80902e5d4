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
        /// A collector answers neither signal, or asks the agent to wait.
        case collector(URL)
        case upload(Signal, to: URL)
        /// Batches that wait for collectors other than the agent's.
        case elsewhere([URL]?)
        case rejected
        /// Losses of a dead process.
        case earlierLoss
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

    /// Logs a fact that the service should know although nothing is wrong. With the default `MARTLET_LOG_LEVEL` it is
    /// logged, at a stricter level it is not. The service's own level applies too.
    func notice(_ message: String) {
        if level <= .warning { (given ?? Logger(label: "martlet")).notice("\(message)") }
    }

    func warning(_ message: String) { log(.warning, message) }

    func warn(of condition: Condition, _ message: String) {
        if warned.withLock({ $0.insert(condition).inserted }) { log(.warning, message) }
    }

    /// Logs the end of a condition, at the same level as ``warn(of:_:)``. Does nothing if no warning was logged.
    func noteEnd(of condition: Condition, _ message: String) {
        if warned.withLock({ $0.remove(condition) != nil }) { log(.warning, message) }
    }

    /// Logs with a newly made logger, because the service may bootstrap its logging after it started the agent.
    private func log(_ level: Logger.Level, _ message: String) {
        guard level >= self.level else { return }
        var logger = given ?? Logger(label: "martlet")
        logger.logLevel = self.level
        logger.log(level: level, "\(message)")
    }
}
