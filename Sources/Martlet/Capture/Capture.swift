import Foundation
import Synchronization

/// Where every instrument of the process finds the agent that runs, and the switch that all of them read. There is one
/// for the process because a hook in a class is one for the process.
enum Capture {
    /// Read at the start and the end of every request: off, instruments see nothing, and what they stand in front of
    /// goes on unchanged.
    static let isOn = Atomic<Bool>(false)

    /// Set where sessions are captured one by one: of the two ways only one is in force, so that no request is seen twice.
    static let isExplicit = Atomic<Bool>(false)

    private static let connected = ProcessLock<Recorder?>(nil)
    private static let faultCount = Atomic<Int>(0)
    private static let ownReason = ProcessLock<String?>(nil)

    /// How many scopes are open: as long as there are none, nobody has to look for one.
    static let scopes = Atomic<Int>(0)

    /// The scope of the task that runs.
    static var scope: CaptureScope? { scopes.load(ordering: .relaxed) == 0 ? nil : CaptureScope.current }

    /// Whether anybody sees anything.
    static var isActive: Bool {
        ForkedChild.begin()
        return isOn.load(ordering: .relaxed) || scopes.load(ordering: .relaxed) > 0
    }

    /// The process's; `nil` while no agent runs, or it is switched off.
    static var recorder: Recorder? {
        ForkedChild.begin()
        return isOn.load(ordering: .relaxed) ? connected.withLock { $0 } : nil
    }

    /// That of what began in a scope, or outside any.
    static func recorder(in scope: CaptureScope?) -> Recorder? {
        guard let scope else { return recorder }
        return scope.recorder
    }

    static func isConnected(to recorder: Recorder) -> Bool { connected.withLock { $0 === recorder } }

    /// Counts requests that are in flight for too long.
    static func countHung(into recorder: Recorder) {
        #if os(Linux)
        RequestInstrument(recorder: recorder).countHung()
        #endif
    }

    static func connect(to recorder: Recorder) {
        connected.withLock { $0 = recorder }
        switchOn()
    }

    /// In a forked child: on if the parent's was. A scope is its parent's.
    static func goOn(with recorder: Recorder) {
        scopes.store(0, ordering: .relaxed)
        guard !isOn.load(ordering: .relaxed) else { return connect(to: recorder) }
        connected.withLock { $0 = recorder }
        ownReason.withLock { $0 = "it was off when the process was forked" }
    }

    static func switchOn() {
        #if os(Linux)
        if !isOn.load(ordering: .relaxed) { InFlightRequests.forgetWaiting() }
        #endif
        ownReason.withLock { $0 = nil }
        faultCount.store(0, ordering: .relaxed)
        isOn.store(true, ordering: .releasing)
    }

    /// - Parameter reason: Of the agent's own decision, for `status`, the log and the collector; `nil` for the service's.
    static func switchOff(because reason: String? = nil) {
        ownReason.withLock { $0 = reason }
        isOn.store(false, ordering: .relaxed)
    }

    /// Why the agent switched itself off; `nil` where it did not.
    static var offReason: String? {
        isOn.load(ordering: .relaxed) ? nil : ownReason.withLock { $0 }
    }

    /// Forgets tasks that were resumed long ago and never loaded. The agent's thread does it now and then; an agent in memory has none.
    static func forgetAbandoned() {
        #if os(Linux)
        InFlightRequests.forgetAbandoned()
        #endif
    }

    /// How many requests have begun and not ended in the scope, or outside any, and the age of the oldest.
    static func inFlight(in scope: CaptureScope?) -> (count: Int, oldest: Duration) {
        #if os(Linux)
        InFlightRequests.summary(in: scope)
        #else
        (0, .zero)
        #endif
    }

    /// Roughly what is held of requests that have not ended.
    static var inFlightBytes: Int {
        #if os(Linux)
        InFlightRequests.estimatedBytes
        #else
        0
        #endif
    }

    /// Internal errors since capture was switched on.
    static var faults: Int { faultCount.load(ordering: .relaxed) }

    /// Counts something that should not be. Never called under a lock.
    static func note(_ fault: CaptureFault) {
        let count = faultCount.wrappingAdd(1, ordering: .relaxed).newValue
        if count == MartletLimits.faults { switchOff(because: "\(count) internal errors, the last: \(fault.rawValue)") }
    }

    static func disconnect() {
        isOn.store(false, ordering: .releasing)
        connected.withLock { $0 = nil }
    }
}
