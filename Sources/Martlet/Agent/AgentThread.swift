import CMartletHooks
import Dispatch
import Foundation
import MartletTelemetry

/// The agent's one thread, seen from outside. It seals the recorded requests every interval and uploads them, and does both
/// at once when it is asked to flush or to stop. A service whose task pool is busy or blocked does not hold it up.
final class AgentThread: Sendable {
    let requests: FlushRequests
    private let board: StatusBoard
    private let opening = DispatchGroup()

    init(requests: FlushRequests, board: StatusBoard) {
        self.requests = requests
        self.board = board
    }

    func start(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: EffectiveCapture,
        recorder: Recorder,
        log: AgentLog
    ) {
        opening.enter()
        board.update { $0.journalError = Self.isOpening }
        let thread = Thread { [self] in
            // `Thread.name` would not do: on Linux it takes the thread from a field that its creator may not have set yet.
            martlet_name_thread("martlet")
            blockSignals()
            AgentCost.beginThread()
            martlet_begin_work()
            defer { martlet_end_work() }
            // A file's rules come first, because a request may follow the start at once.
            let rules = RulesWatch(configuration, capture: capture, active: recorder.rules, log: log)
            rules.start()
            var loop = AgentLoop(
                configuration, resource: resource, capture: capture, recorder: recorder, rules: rules, log: log,
                requests: requests, board: board)
            loop.openOutbox()
            opening.leave()
            loop.run()
            requests.finish()
        }
        thread.start()
    }

    /// The state of the journal until it is open.
    private static let isOpening = "the journal is not open yet"

    /// Waits until the journal is open, for ``MartletLimits/openingWait`` at most: a killed process loses the requests that are
    /// recorded before.
    func awaitOpening() { _ = opening.wait(timeout: .now() + MartletLimits.openingWait.seconds) }

    var status: ShippingStatus { board.status }

    /// Blocks signals, because a signal for the service must not land on this thread. Signals of a fault of the thread itself
    /// stay open: blocked, they would end the process without a message and without a handler.
    private func blockSignals() {
        var signals = sigset_t()
        sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS] { sigdelset(&signals, fault) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
