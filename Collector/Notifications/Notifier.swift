import Logging
import MartletFindings
import MartletPrometheus
import MartletStorage
import MartletTelemetry
import NIOSSL
import ServiceLifecycle

/// Sends a message to each receiver when a finding opens, when it ends, and when its kind changes meanwhile. Safe to use from any
/// task.
///
/// What a receiver acknowledged last about a finding is in the store, so no opening and no end is sent twice, also after a
/// restart. What it has not acknowledged waits in memory. A message that the receiver took just before the collector was killed
/// is sent again.
package actor Notifier: Service {
    /// Findings that ended earlier than this before they were first seen are history, in nanoseconds.
    private static let history: UnixNanoseconds = 3_600_000_000_000

    private let storage: any Storage
    private let tls: TLSConfiguration?
    private let logger: Logger
    private let onCounted: @Sendable (NotificationCounts, _ receiver: String) -> Void
    private var outlets: [Outlet]
    /// The state of each present finding when it was last seen.
    private var known: [FindingName: FindingState] = [:]

    /// A receiver with its messages.
    private struct Outlet {
        let receiver: Receiver
        var queue: MessageQueue
        var counts = NotificationCounts()
        /// Why it gets no messages now; `nil` if it does.
        var fault: String?
        let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// - Parameters:
    ///   - tls: `nil` trusts the system's authorities.
    ///   - onCounted: called when the counts of a receiver have changed.
    package init(
        _ receivers: [Receiver], storage: any Storage, tls: TLSConfiguration? = nil,
        limits: NotifierLimits = NotifierLimits(), logger: Logger,
        onCounted: @escaping @Sendable (NotificationCounts, _ receiver: String) -> Void = { _, _ in }
    ) {
        (self.storage, self.tls, self.logger, self.onCounted) = (storage, tls, logger, onCounted)
        outlets = receivers.map { Outlet(receiver: $0, queue: MessageQueue(limits)) }
        for outlet in outlets { onCounted(outlet.counts, outlet.receiver.name) }
    }

    // MARK: Findings

    /// Takes the findings of a tick, none if another collector computes them. Returns without waiting for a receiver.
    package func take(_ findings: [WatchedFinding], now: UnixNanoseconds) {
        let present = Dictionary(findings.map { ($0.name, $0) }) { first, _ in first }
        let news = findings.filter { isNew($0, now) }.map { (watched: $0, isOfNewKind: isOfNewKind($0)) }
        known = present.mapValues(\.state)
        for index in outlets.indices {
            outlets[index].queue.update(present)
            for (watched, isOfNewKind) in news {
                let dropped = outlets[index].queue.add(watched, isOfNewKind: isOfNewKind, at: .now)
                giveUp(dropped, of: index, "too many messages wait")
            }
            report(index)
            outlets[index].wakes.continuation.yield()
        }
    }

    private func isOfNewKind(_ watched: WatchedFinding) -> Bool {
        known[watched.name].map { $0.isOpen && watched.finding.isOpen && $0 != watched.state } ?? false
    }

    private func isNew(_ watched: WatchedFinding, _ now: UnixNanoseconds) -> Bool {
        if let before = known[watched.name] { return before != watched.state }
        guard !watched.finding.isOpen, let until = watched.finding.until else { return true }
        return FindingTime.time(until) >= now - min(now, Self.history)
    }

    // MARK: Delivery

    /// Sends messages until the collector stops. A message that is being sent then is finished.
    package func run() async throws {
        let count = outlets.count
        try await MessageSender.run(tls: tls) { sender in
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<count { group.addTask { await self.serve(index, sender) } }
            }
        }
    }

    private func serve(_ index: Int, _ sender: MessageSender) async {
        for await _ in outlets[index].wakes.stream.cancelOnGracefulShutdown() {
            while !Task.isCancelled, !Task.isShuttingDownGracefully, let due = outlets[index].queue.due(.now) {
                let isDue = try? await cancelWhenGracefulShutdown {
                    try await Task.sleep(until: due, clock: .continuous)
                    return true
                }
                guard isDue ?? false, let message = outlets[index].queue.next else { continue }
                await deliver(message, to: index, sender)
                report(index)
            }
        }
    }

    private func deliver(_ message: MessageQueue.Message, to index: Int, _ sender: MessageSender) async {
        let (receiver, watched) = (outlets[index].receiver, message.watched)
        let (key, state) = (receiver.key(watched), watched.finding.isOpen ? NotifiedState.open : .ended)
        do {
            if !message.isAccepted {
                let before = try await storage.notified(key)
                guard message.isWorthSending(after: before) else { return outlets[index].queue.remove(message) }
                let answer = await sender.send(FindingMessage(watched, isKnown: before == state), to: receiver)
                guard note(answer, to: message, of: index) else { return }
            }
            try await storage.setNotified(key, state)
            outlets[index].queue.remove(message)
        } catch {
            fail(message, of: index, "the store does not answer: \(error)")
        }
    }

    /// Notes the answer to a message. Returns whether the receiver has it.
    private func note(_ answer: ReceiverAnswer, to message: MessageQueue.Message, of index: Int) -> Bool {
        switch answer {
        case .accepted:
            outlets[index].queue.accept(message)
            outlets[index].counts.sent += 1
            setFault(nil, of: index)
        case .refused(let reason): fail(message, of: index, reason, isRefused: true)
        case .away(let reason, let wait): fail(message, of: index, reason, wait: wait)
        }
        return answer.isAccepted
    }

    private func fail(
        _ message: MessageQueue.Message, of index: Int, _ reason: String, isRefused: Bool = false, wait: Duration? = nil
    ) {
        // The collector stops, and cuts off what is being sent.
        guard !Task.isCancelled else { return }
        setFault(reason, of: index)
        giveUp(
            outlets[index].queue.fail(message, isRefused: isRefused, wait: wait, at: .now), of: index, reason)
    }

    // MARK: What the operator learns

    private func giveUp(_ count: Int, of index: Int, _ reason: String) {
        guard count > 0 else { return }
        outlets[index].counts.failed += UInt64(count)
        logger.error(
            "notifications are given up",
            metadata: ["receiver": "\(outlets[index].receiver)", "count": "\(count)", "reason": "\(reason)"])
    }

    /// Logs that a receiver no longer takes messages, for another reason, or that it does again.
    private func setFault(_ fault: String?, of index: Int) {
        guard fault != outlets[index].fault else { return }
        outlets[index].fault = fault
        let receiver: Logger.Metadata = ["receiver": "\(outlets[index].receiver)"]
        guard let fault else {
            return logger.notice("the receiver takes notifications again", metadata: receiver)
        }
        logger.warning(
            "the receiver takes no notifications; they wait", metadata: receiver.merging(["reason": "\(fault)"]) { $1 })
    }

    private func report(_ index: Int) {
        outlets[index].counts.waiting = UInt64(outlets[index].queue.count)
        onCounted(outlets[index].counts, outlets[index].receiver.name)
    }
}
