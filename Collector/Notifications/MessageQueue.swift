import MartletFindings
import MartletStorage

/// How long the messages of a receiver wait.
package struct NotifierLimits: Sendable {
    /// The pause after a failure. It doubles with each further one, and is jittered to 50–100 %, so that collectors do not all
    /// return at once.
    package var firstPause = Duration.seconds(5)
    /// The longest pause, also if a receiver asks for more.
    package var longestPause = Duration.seconds(300)
    /// The time for which a message is tried again.
    package var patience = Duration.seconds(86_400)
    /// The number of attempts with a message that the receiver refuses.
    package var refusals = 3
    /// The largest number of messages that wait for a receiver. Past it, the oldest are dropped. A message takes some 2 KB.
    package var messages = 1_000

    package init() {}
}

/// The messages that a receiver has not acknowledged, and when it is tried next. A value without a clock or chance.
struct MessageQueue {
    struct Message {
        var watched: WatchedFinding
        /// Whether the finding was of another kind when it opened.
        let isOfNewKind: Bool
        let since: ContinuousClock.Instant
        var refusals = 0
        /// Whether the receiver has it, but the store does not know that yet.
        var isAccepted = false
    }

    private let limits: NotifierLimits
    private var waiting: [Message] = []
    private var failures = 0
    private var notBefore: ContinuousClock.Instant?

    init(_ limits: NotifierLimits) { self.limits = limits }

    var count: Int { waiting.count }

    /// When the next message may be sent; `nil` if none waits.
    func due(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? { waiting.isEmpty ? nil : notBefore ?? now }

    /// The message that is sent next: the oldest one, but refused ones last.
    var next: Message? { waiting.min { $0.refusals < $1.refusals } }

    // MARK: Findings

    /// Adds a message about a finding that has opened, ended, or become another kind of thing. It takes the place of one about the
    /// same finding.
    ///
    /// - Returns: The number of messages that found no room.
    mutating func add(_ watched: WatchedFinding, isOfNewKind: Bool = false, at now: ContinuousClock.Instant) -> Int {
        waiting.removeAll { $0.watched.name == watched.name }
        waiting.append(Message(watched: watched, isOfNewKind: isOfNewKind, since: now))
        let excess = max(0, waiting.count - limits.messages)
        waiting.removeFirst(excess)
        return excess
    }

    /// Replaces what waiting messages say by the present findings. A message about the opening of a finding that is no longer
    /// there is removed: the finding has become a part of another one, which has a message.
    mutating func update(_ present: [FindingName: WatchedFinding]) {
        for index in waiting.indices {
            guard let now = present[waiting[index].watched.name], now.state == waiting[index].watched.state else {
                continue
            }
            waiting[index].watched = now
        }
        waiting.removeAll { $0.watched.finding.isOpen && present[$0.watched.name] == nil }
    }

    // MARK: Attempts

    /// Removes a message that the receiver has. A newer one about the same finding stays.
    mutating func remove(_ message: Message) {
        (failures, notBefore) = (0, nil)
        waiting.removeAll { $0.isSame(as: message) }
    }

    mutating func accept(_ message: Message) { change(message) { $0.isAccepted = true } }

    /// Notes an attempt that failed, and until when nothing is sent.
    ///
    /// - Parameters:
    ///   - wait: the wait that the receiver asked for.
    ///   - random: a number from 0.5 to 1.
    /// - Returns: The number of messages that are given up: this one if it was refused too often, and those that are too old.
    mutating func fail(
        _ message: Message, isRefused: Bool = false, wait: Duration? = nil, at now: ContinuousClock.Instant,
        random: Double = .random(in: 0.5...1)
    ) -> Int {
        let pause = min(limits.firstPause * (1 << min(failures, 16)), limits.longestPause) * random
        failures += 1
        notBefore = now + max(pause, min(wait ?? .zero, limits.longestPause))
        if isRefused { change(message) { $0.refusals += 1 } }
        let count = waiting.count
        let limits = limits
        waiting.removeAll { $0.refusals >= limits.refusals || now - $0.since >= limits.patience }
        return count - waiting.count
    }

    private mutating func change(_ message: Message, _ body: (inout Message) -> Void) {
        if let index = waiting.firstIndex(where: { $0.isSame(as: message) }) { body(&waiting[index]) }
    }
}

extension MessageQueue.Message {
    /// Whether a receiver has to be sent this.
    ///
    /// - Parameter before: what it acknowledged last about the finding. If that is nothing, a removed finding concerns nobody.
    func isWorthSending(after before: NotifiedState?) -> Bool {
        switch before {
        case .open: isOfNewKind || !watched.finding.isOpen
        case .ended: watched.finding.isOpen
        case nil: watched.removal == nil
        }
    }

    fileprivate func isSame(as other: Self) -> Bool {
        watched.name == other.watched.name && watched.state == other.watched.state
    }
}

/// A finding's environment and id.
struct FindingName: Hashable {
    let environment: String?
    let id: String
}

/// The part of a finding whose change is worth a message: whether it goes on, and its kind meanwhile.
struct FindingState: Equatable {
    let isOpen: Bool
    let kind: FindingKind?
}

extension WatchedFinding {
    var name: FindingName { FindingName(environment: environment, id: finding.id) }
    var state: FindingState { FindingState(isOpen: finding.isOpen, kind: finding.isOpen ? finding.kind : nil) }
}
