import Synchronization
import Tracing

/// Makes ``MartletTracer`` the process's tracer, unless it has one.
enum TracingBootstrap {
    private static let isDone = ProcessLock(false)

    /// Says so in the log, once a process: a service that bootstraps a tracer of its own later ends with a trap that does not
    /// name us. Thread-safe.
    ///
    /// `InstrumentationSystem.bootstrap(_:)` traps the second time, and nothing tells whether there was a first: what tells
    /// is that the instrument is not the one that stands in until then. A tracer that is in force for a scope only
    /// (`withTracer`) is none to go by, and nothing is done in its scope.
    static func install(_ log: AgentLog) {
        switch bootstrap() {
        case .isDone: return
        case .isNew:
            log.notice(
                "Martlet is the backend of swift-distributed-tracing (MARTLET_TRACING=false leaves that to a tracer of the service: a second bootstrap ends the process)"
            )
        case .isTaken(let present):
            log.warning(
                "Tracing is bootstrapped with \(type(of: present)) already; a MultiplexInstrument can hold MartletTracer too"
            )
        }
    }

    private enum Outcome {
        /// It was the process's tracer before.
        case isDone
        case isNew
        case isTaken(any Instrument)
    }

    private static func bootstrap() -> Outcome {
        isDone.withLock { isDone in
            if isDone || InstrumentationSystem.tracer is MartletTracer { return .isDone }
            let present = InstrumentationSystem.instrument
            guard present is NoOpInstrument else { return .isTaken(present) }
            InstrumentationSystem.bootstrap(MartletTracer())
            isDone = true
            return .isNew
        }
    }
}
