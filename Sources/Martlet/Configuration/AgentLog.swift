import Foundation
import Logging
import MartletTelemetry
import Synchronization

/// The agent's messages in the service's log: few, and one for each condition until it changes.
final class AgentLog: Sendable {
    /// A condition that the agent warns of once, until ``again(_:_:)``.
    enum Matter: Hashable {
        case directory
        case buffer
        case bufferFull
        case encoding
        case journal
        /// The collector answers for no signal, or asks the agent to wait.
        case collector
        case upload(Signal)
        /// Batches that wait for another address than the agent's own.
        case elsewhere(URL?)
        case rejected
        case hooks
        case off
    }

    private let given: Logger?
    private let level: Logger.Level
    private let told = Lock<Set<Matter>>([])

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

    func once(_ matter: Matter, _ message: String) {
        if told.withLock({ $0.insert(matter).inserted }) { log(.warning, message) }
    }

    /// Logs the end of a condition, at the same level as ``once(_:_:)``; does nothing if that logged no warning.
    func again(_ matter: Matter, _ message: String) {
        if told.withLock({ $0.remove(matter) != nil }) { log(.warning, message) }
    }

    /// Logs over a logger made anew, because the service may bootstrap its logging after it started the agent.
    private func log(_ level: Logger.Level, _ message: String) {
        guard level >= self.level else { return }
        var logger = given ?? Logger(label: "martlet")
        logger.logLevel = self.level
        logger.log(level: level, "\(message)")
    }
}
