import CMartletHooks
import Dispatch
import Foundation
import Logging
import MartletTelemetry
import Synchronization

/// The agent's one thread, seen from outside: it seals what was recorded every interval and uploads it, and does both at
/// once when it is asked to flush or to stop. A thread of its own, so that a service whose task pool is busy or blocked
/// does not hold it up.
final class Shipper: Sendable {
    private let mailbox = Lock(Mailbox())
    private let account = Lock(ShippingAccount())
    private let wake = Wake()
    private let opening = DispatchGroup()

    private struct Mailbox {
        var flushes: [@Sendable () -> Void] = []
        /// By the monotonic clock: when the thread must be done.
        var stopBy: UInt64?
        var isFinished = false
    }

    func start(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: CaptureState, recorder: Recorder,
        log: AgentLog
    ) {
        opening.enter()
        let thread = Thread { [self] in
            // Not by `Thread.name`: on Linux that takes the thread from a field that its creator may not have set yet.
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

    /// Waits until the journal is open, for ``MartletLimits/opening`` at most: what is recorded before does not survive a
    /// killed process.
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

    /// The same, and shipping ends, at the latest after `limit`.
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

    /// A signal for the service must not land on this thread. Those that tell of a fault of the thread itself are let in: blocked,
    /// they would end the process without a word and without a handler.
    private func blockSignals() {
        var signals = sigset_t()
        sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS] { sigdelset(&signals, fault) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    // MARK: For the thread alone

    /// Waits until somebody asks for something, or until `deadline`. A signal may have been taken by ``wait(until:)``
    /// during an upload, so the mailbox is asked first.
    func waitForRequest(until deadline: UInt64) {
        if !isAsked { wait(until: deadline) }
    }

    /// Somebody waits for a flush or for the end.
    var isAsked: Bool { mailbox.withLock { !$0.flushes.isEmpty || $0.stopBy != nil } }

    /// Waits until something happened, or until `deadline` or the time to stop has come.
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

    /// Notes what encoding holds beside what it encodes, which is there for a moment only.
    func noteEncoding(_ bytes: Int, of recorder: Recorder) {
        update { $0.encodingBytes = bytes }
        let held = AgentMemory.bytes(recorder, status)
        update { $0.mostMemory = max($0.mostMemory, held) }
    }

    /// The most memory that the agent held since the last call, or holds now.
    func takeMostMemory(of recorder: Recorder) -> Int {
        let held = AgentMemory.bytes(recorder, status)
        return account.withLock { account in
            defer { account.mostMemory = 0 }
            return max(account.mostMemory, held)
        }
    }
}
