import Synchronization
import Tracing

/// Makes ``MartletTracer`` the process's tracer, unless it has one.
enum TracingBootstrap {
    private static let isDone = Lock(false)

    /// Thread-safe. `nil` when ``MartletTracer`` is the process's tracer now; else the one that is.
    ///
    /// `InstrumentationSystem.bootstrap(_:)` traps the second time, and nothing tells whether there was a first: what tells
    /// is that the instrument is not the one that stands in until then. A tracer that is in force for a scope only
    /// (`withTracer`) is none to go by, and nothing is done in its scope.
    static func install() -> (any Instrument)? {
        isDone.withLock { isDone in
            if isDone || InstrumentationSystem.tracer is MartletTracer { return nil }
            let present = InstrumentationSystem.instrument
            guard present is NoOpInstrument else { return present }
            InstrumentationSystem.bootstrap(MartletTracer())
            isDone = true
            return nil
        }
    }
}
