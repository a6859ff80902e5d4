import Synchronization
import Tracing

/// The installation of ``MartletTracer`` as the process's tracer, unless it has one.
enum TracingBootstrap {
    private static let isDone = ProcessLock(false)

    /// Installs the tracer and logs it, once a process. A service that later bootstraps a tracer of its own ends with a
    /// trap that does not name Martlet; the log explains it. Thread-safe.
    ///
    /// `InstrumentationSystem.bootstrap(_:)` traps at the second call, and no function tells whether there was a first.
    /// This checks instead whether the instrument is still the one that stands in until then. A tracer in force for a scope
    /// only (`withTracer`) hides the process's own, so nothing is done in its scope.
    static func install(_ log: AgentLog) {
        switch bootstrap() {
        case .isDone: return
        case .isNew:
            log.notice(
                """
                Martlet is the backend of swift-distributed-tracing; a second bootstrap ends the process, \
                so set MARTLET_TRACING=false if the service bootstraps its own tracer
                """)
        case .isTaken(let present):
            log.warning(
                """
                Tracing is already bootstrapped with \(type(of: present)); \
                to use Martlet as well, bootstrap a MultiplexInstrument that includes MartletTracer
                """)
        }
    }

    private enum Outcome {
        /// Martlet was the process's tracer before.
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
