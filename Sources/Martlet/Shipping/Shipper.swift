import CMartletHooks
import Dispatch
import Foundation
import Logging
import MartletTelemetry
import Synchronization

/// The agent's one thread, seen from outside. It seals the recorded requests every interval and uploads them, and does both
/// at once when it is asked to flush or to stop. The agent has a thread of its own, so that a service whose task pool is busy
/// or blocked does not hold it up.
final class Shipper: Sendable {
    private let mailbox = Lock(Mailbox())
    private let account = Lock(ShippingAccount())
    private let wake = Wake()
    private let opening = DispatchGroup()

    private struct Mailbox {
        var flushes: [@Sendable () -> Void] = []
        /// The time by which the thread must be done, in nanoseconds of the monotonic clock; `nil` until it is to stop.
        var stopBy: UInt64?
        var isFinished = false
    }

    func start(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: CaptureState, recorder: Recorder,
        log: AgentLog
    ) {
        opening.enter()
        let thread = Thread { [self] in
            // `Thread.name` would not do: on Linux it takes the thread from a field that its creator may not have set yet.
            martlet_name_thread("martlet")
            blockSignals()
            martlet_begin_work()
            defer { martlet_end_work() }
            var loop = ShippingLoop(
                configuration, resource: resource, capture: capture, recorder: recorder, log: log, shipper: self)
            loop.open()
            opening.leave()
            loop.run()
            finish()
        }
        thread.start()
    }

    /// Waits until the journal is open, for ``MartletLimits/opening`` at most. A killed process loses the requests that were
    /// recorded before.
    func awaitOpening() { _ = opening.wait(timeout: .now() + MartletLimits.opening.seconds) }

    var status: ShippingAccount { account.withLock { $0 } }

    /// Calls `done` when everything recorded so far was uploaded, or one attempt at it failed, or shipping has ended.
    func flush(_ done: @escaping @Sendable () -> Void) {
        let isFinished = mailbox.withLock { mailbox in
            if !mailbox.isFinished { mailbox.flushes.append(done) }
            return mailbox.isFinished
        }
        if isFinished { done() } else { wake.signal() }
    }

    /// Flushes like ``flush(_:)``, and ends shipping, after `limit` at the latest.
    func stop(within limit: Duration, _ done: @escaping @Sendable () -> Void) {
        let stopBy = Clock.monotonic() &+ limit.nanoseconds
        mailbox.withLock { $0.stopBy = min(stopBy, $0.stopBy ?? .max) }
        flush(done)
    }

    private func finish() {
        let waiting = mailbox.withLock { mailbox in
            mailbox.isFinished = true
            defer { mailbox.flushes = [] }
            return mailbox.flushes
        }
        for done in waiting { done() }
    }

    /// Blocks signals, because a signal for the service must not land on this thread. Signals of a fault of the thread itself
    /// stay open: blocked, they would end the process without a message and without a handler.
    private func blockSignals() {
        var signals = sigset_t()
        sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS] { sigdelset(&signals, fault) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    // MARK: For the thread alone

    /// Waits for a signal, or until `deadline`; returns at once if a flush or the end is asked for. The mailbox is asked
    /// first, because ``wait(until:)`` may have taken the signal during an upload.
    func waitForRequest(until deadline: UInt64) {
        if !isAsked { wait(until: deadline) }
    }

    /// Whether a caller waits for a flush or for the end.
    var isAsked: Bool { mailbox.withLock { !$0.flushes.isEmpty || $0.stopBy != nil } }

    /// Waits for a signal, or until `deadline` or the time to stop has come.
    func wait(until deadline: UInt64) {
        let now = Clock.monotonic()
        let until = min(deadline, stopBy ?? .max)
        guard until > now else { return }
        wake.wait(nanoseconds: until - now) { sleep in
            martlet_end_work()
            sleep()
            martlet_begin_work()
        }
    }

    var stopBy: UInt64? { mailbox.withLock { $0.stopBy } }

    func takeFlushes() -> [@Sendable () -> Void] {
        mailbox.withLock { mailbox in
            defer { mailbox.flushes = [] }
            return mailbox.flushes
        }
    }

    func signal() { wake.signal() }

    func update(_ change: (inout ShippingAccount) -> Void) {
        account.withLock { change(&$0) }
    }

    /// Notes the bytes that encoding holds for a moment, beside those of its input.
    func noteEncoding(_ bytes: Int, of recorder: Recorder) {
        update { $0.encodingBytes = bytes }
        let held = AgentMemory.bytes(recorder, status)
        update { $0.mostMemory = max($0.mostMemory, held) }
    }

    /// Returns the most memory that the agent held since the last call, or holds now, in bytes.
    func takeMostMemory(of recorder: Recorder) -> Int {
        let held = AgentMemory.bytes(recorder, status)
        return account.withLock { account in
            defer { account.mostMemory = 0 }
            return max(account.mostMemory, held)
        }
    }
}
