import Foundation
import Logging
import MartletTelemetry
import Synchronization

/// The agent's words in the service's log: few, and each matter once until it has changed.
final class AgentLog: Sendable {
    /// What the agent may have to say, told once until ``again(_:_:)``.
    enum Matter: Hashable {
        case directory
        case buffer
        case bufferFull
        case encoding
        case journal
        /// No answer for any signal, or one that asks for patience.
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

    /// Something that the service has to know though nothing is wrong. At the default of `MARTLET_LOG_LEVEL` too, at a stricter
    /// one not; the service's own level holds.
    func notice(_ message: String) {
        if level <= .warning { (given ?? Logger(label: "martlet")).notice("\(message)") }
    }

    func warning(_ message: String) { log(.warning, message) }

    func once(_ matter: Matter, _ message: String) {
        if told.withLock({ $0.insert(matter).inserted }) { log(.warning, message) }
    }

    /// Ends what `once` began, so loud as that; says nothing if it did not.
    func again(_ matter: Matter, _ message: String) {
        if told.withLock({ $0.remove(matter) != nil }) { log(.warning, message) }
    }

    /// The logger is made anew because the service may bootstrap its logging after it started the agent.
    private func log(_ level: Logger.Level, _ message: String) {
        guard level >= self.level else { return }
        var logger = given ?? Logger(label: "martlet")
        logger.logLevel = self.level
        logger.log(level: level, "\(message)")
    }
}
