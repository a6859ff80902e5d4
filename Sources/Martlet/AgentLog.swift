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
        case upload(Signal)
        case rejected
        case details
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

    func warning(_ message: String) { log(.warning, message) }

    func once(_ matter: Matter, _ message: String) {
        if told.withLock({ $0.insert(matter).inserted }) { log(.warning, message) }
    }

    /// Ends what `once` began; says nothing if it did not.
    func again(_ matter: Matter, _ message: String) {
        if told.withLock({ $0.remove(matter) != nil }) { log(.notice, message) }
    }

    /// The logger is made anew because the service may bootstrap its logging after it started the agent.
    private func log(_ level: Logger.Level, _ message: String) {
        guard level >= self.level else { return }
        var logger = given ?? Logger(label: "martlet")
        logger.logLevel = self.level
        logger.log(level: level, "\(message)")
    }
}
