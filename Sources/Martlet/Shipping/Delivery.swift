import Foundation
import MartletOTLP
import MartletTelemetry

/// Uploads batches, the oldest of each instance first: those of dead instances, then this instance's, and last those
/// that dead instances recorded for other collectors. While a caller waits, this instance's come first. It sends one at
/// a time, and waits for the collector's acknowledgement before the next. After a failure that may pass, the batch goes
/// to another collector if that is allowed, and waits otherwise.
struct Delivery {
    private let configuration: MartletConfiguration
    private let uploader: Uploader
    private let requests: FlushRequests
    private let board: StatusBoard
    private let log: AgentLog
    private let timeout: UInt64
    private let recovery: JournalRecovery
    private let whileWaiting: () -> Void
    private let instance: String
    /// The configuration's collectors, the preferred one first.
    private let own: [URL]
    private var sums: OutgoingSums
    private var routes = UploadRoutes()
    private var backlogPause: BacklogThrottle
    private var abandoned = AbandonedOutboxes()
    /// Dead instances of this round whose batches can be sent to other collectors.
    private var foreign: [AbandonedOutboxes.Place] = []
    private var news: DeliveryLog
    private var pause: UInt64 = .max
    /// Whether a caller waits for the end of the round.
    private var isCallerWaiting = false
    /// When uploads to other collectors have delayed a caller long enough, in nanoseconds of the monotonic clock.
    private var elsewhereDeadline: UInt64 = .max
    /// Whether the round was interrupted, so that more batches may wait.
    private(set) var isPaused = false

    /// - Parameters:
    ///   - instance: this process, which determines its preference among the collectors.
    ///   - whileWaiting: called now and then during an upload, which may take long.
    init(
        _ configuration: MartletConfiguration, instance: String, log: AgentLog, requests: FlushRequests,
        board: StatusBoard, whileWaiting: @escaping () -> Void
    ) {
        self.configuration = configuration
        self.instance = instance
        sums = OutgoingSums(configuration, instance: instance, board: board)
        own = CollectorOrder.ranked(configuration.collectors, for: instance)
        backlogPause = BacklogThrottle(interval: configuration.interval)
        uploader = Uploader(configuration, log: log)
        let transportName = uploader.transportName
        board.update { $0.transport = transportName }
        timeout = configuration.exportTimeout.nanoseconds
        recovery = JournalRecovery(configuration)
        self.whileWaiting = whileWaiting
        self.requests = requests
        self.board = board
        self.log = log
        news = DeliveryLog(own: own, log: log)
        // The first session of a process fixes the protocols of `URLSession.shared`, and the service should determine
        // them.
        if transportName == .urlSession {
            routes.wait(for: ownRoutes, until: Clock.monotonic() &+ configuration.interval.nanoseconds)
        }
    }

    /// When the next attempt is due, in nanoseconds of the monotonic clock; `.max` while nothing waits. Addresses other
    /// than the agent's own are tried in the same rounds, and have no separate time.
    var nextAttempt: UInt64 { routes.nextAttempt(over: ownRoutes) }

    /// Begins a round.
    ///
    /// - Parameters:
    ///   - isCallerWaiting: whether to cut the agent's own wait short for a caller. A wait that the collector asked for
    ///     is not cut short.
    ///   - pause: when to stop beginning uploads, by the monotonic clock, so that other work does not wait for a full
    ///     buffer.
    /// - Returns: `false` if nothing may be sent now.
    mutating func begin(isCallerWaiting: Bool, pause: UInt64) -> Bool {
        self.pause = pause
        isPaused = false
        self.isCallerWaiting = isCallerWaiting
        guard routes.begin(over: ownRoutes, at: Clock.monotonic(), isCallerWaiting: isCallerWaiting) else {
            return false
        }
        foreign = []
        abandoned.beginRound()
        return true
    }

    /// Ends a round.
    func end() { uploader.rest() }

    /// Delivers the batches of a store that belongs to this instance.
    mutating func deliver(own store: inout some BatchStore & ~Copyable) {
        store.adopt(account: board.status.account)
        deliverAll(of: &store, to: own, isOwn: true)
    }

    /// Delivers the batches that earlier processes left in a directory, except those for other collectors. Opens only a
    /// few of their directories in a round (``AbandonedOutboxes``). Makes batches of their journals even while nothing
    /// can be sent, because a journal takes far more room on the disk.
    mutating func deliverAbandoned(in directory: URL, except present: String) {
        while !isTimeUp() {
            let routes = routes
            let place = abandoned.next(in: directory, except: present) { !routes.areBlocked($0) }
            guard let place else { return }
            visit(place)
        }
    }

    private mutating func visit(_ place: AbandonedOutboxes.Place) {
        guard var outbox = Outbox.adopt(instance: place.instance, in: place.serviceDirectory) else {
            return abandoned.note(nil, at: place)
        }
        recovery.recover(&outbox)
        let addresses = outbox.addresses(for: configuration)
        if addresses.present == configuration.collectors {
            deliverAll(ofDead: &outbox, to: own)
        } else if addresses.present != nil {
            foreign.append(place)
        }
        leave(outbox, at: place, addresses)
        if isTimeUp() { abandoned.putBack(place) }
    }

    /// Closes a dead instance's outbox, and remembers what stays in it.
    private mutating func leave(
        _ outbox: consuming Outbox, at place: AbandonedOutboxes.Place, _ addresses: (recorded: [URL]?, present: [URL]?)
    ) {
        var outbox = outbox
        let left = outbox.batches() ?? []
        let seen = AbandonedOutboxes.Sighting(
            modified: place.modified, recorded: addresses.recorded, present: addresses.present, left)
        outbox.close()
        if place.modified == nil { abandoned.noteRemoved(place) } else { abandoned.note(seen, at: place) }
    }

    /// Delivers batches for other collectors to the addresses that they were recorded for, if possible, and warns of
    /// the rest. The last step of a round. While a caller waits, it takes at most ``MartletLimits/elsewhereWait``,
    /// because a collector may be gone and not answer.
    mutating func deliverElsewhere() {
        if isPaused { return }
        routes.noteWaiting(for: abandoned.awaited)
        news.endRound(waiting: routes.waiting)
        elsewhereDeadline = isCallerWaiting ? Clock.monotonic() &+ MartletLimits.elsewhereWait.nanoseconds : .max
        for place in foreign where !isPaused && !isElsewhereTimeUp() {
            guard var outbox = Outbox.adopt(instance: place.instance, in: place.serviceDirectory) else { continue }
            let addresses = outbox.addresses(for: configuration)
            deliverAll(ofDead: &outbox, to: CollectorOrder.ranked(addresses.present ?? [], for: instance))
            leave(outbox, at: place, addresses)
        }
        if isPaused || isElsewhereTimeUp() { return }
        reportElsewhere()
    }

    /// Reports the batches that wait for other collectors, as far as they were seen.
    private mutating func reportElsewhere() {
        let waiting = abandoned.sightings.values.filter { $0.batches > 0 && $0.present != configuration.collectors }
        let requests = waiting.reduce(0) { $0 &+ $1.requests }
        board.update { $0.waitingElsewhere = requests }
        for (collectors, seen) in Dictionary(grouping: waiting, by: \.recorded) {
            news.note(seen, for: collectors)
        }
    }

    // MARK: -

    /// Returns whether a caller that asked before or during the round has waited long enough.
    private mutating func isElsewhereTimeUp() -> Bool {
        let now = Clock.monotonic()
        if requests.isCallerWaiting {
            elsewhereDeadline = min(elsewhereDeadline, now &+ MartletLimits.elsewhereWait.nanoseconds)
        }
        return now >= elsewhereDeadline
    }

    /// Returns whether the round has to stop, because the next check is due or the process ends.
    private mutating func isTimeUp() -> Bool {
        let now = Clock.monotonic()
        if now >= pause { isPaused = true }
        return isPaused || now >= requests.stopBy ?? .max
    }

    private var ownRoutes: [UploadRoute] { UploadRoutes.all(to: own) }

    private func isOwn(_ address: URL) -> Bool { own.contains(address) }

    /// Delivers a dead instance's batches, and then the losses that none of them has reported.
    private mutating func deliverAll(ofDead outbox: inout Outbox, to collectors: [URL]) {
        deliverAll(of: &outbox, to: collectors, isOwn: false)
        guard let losses = recovery.storeLosses(of: &outbox) else { return }
        let reasons = losses.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
        log.warn(
            of: .earlierLoss,
            "Requests of an earlier process are lost: \(reasons.joined(separator: ", ")); the collector gets the numbers"
        )
        deliverAll(of: &outbox, to: collectors, isOwn: false)
    }

    private mutating func deliverAll(
        of outbox: inout some BatchStore & ~Copyable, to collectors: [URL], isOwn: Bool
    ) {
        var rest = (outbox.batches() ?? [])[...]
        note(outbox, isOwn: isOwn)
        while let batch = rest.popFirst() {
            guard let route = routes.route(for: batch.file, to: collectors, at: Clock.monotonic()) else { continue }
            waitForThrottle()
            isPaused = Clock.monotonic() >= pause
            let isLate = !self.isOwn(route.address) && isElsewhereTimeUp()
            if isPaused || isLate || Clock.monotonic() >= requests.stopBy ?? .max { return }
            rest = deliver(batch, of: &outbox, over: route, among: collectors) + rest
            note(outbox, isOwn: isOwn)
        }
    }

    /// Waits until the backlog throttle allows the next batch. Does not wait if a caller waits for it.
    private func waitForThrottle() {
        let turn = min(backlogPause.notBefore, pause)
        while !isCallerWaiting, !requests.isCallerWaiting, Clock.monotonic() < turn {
            requests.wait(until: turn)
            whileWaiting()
        }
    }

    private func note(_ outbox: borrowing some BatchStore & ~Copyable, isOwn: Bool) {
        guard isOwn else { return }
        let account = outbox.account
        board.update { $0.account = account }
    }

    /// Uploads a batch.
    ///
    /// - Returns: the batches to continue with: the same one if another route may be tried, or its parts if it was too
    ///   large.
    private mutating func deliver(
        _ batch: StoredBatch, of outbox: inout some BatchStore & ~Copyable, over route: UploadRoute,
        among collectors: [URL]
    ) -> [StoredBatch] {
        if batch.isExpired {
            // The collector may have received sums that include this batch. Sums must not decrease, so they keep it.
            if let body = outbox.read(batch.file) {
                sums.keep(try? sums.outgoing(body, batch.file, of: outbox).sums, in: outbox)
            }
            settle(batch, as: .dropped(.expired), in: &outbox)
            log.warn(
                of: .rejected,
                "A batch is dropped, because the collector may have counted it weeks ago and would count it twice")
            return []
        }
        // A batch that cannot be read, converted or marked now waits for a later round. A batch that is gone is not in
        // the next list.
        let place = routes.place(of: batch.file, over: route, among: collectors)
        guard let body = outbox.read(batch.file) else { return [] }
        let (sent, added): ([UInt8], CumulativeSums?)
        do {
            (sent, added) = try sums.outgoing(body, batch.file, of: outbox)
        } catch is CumulativeSums.Unreadable {
            settle(batch, as: .dropped(.corrupt), in: &outbox)
            log.warn(of: .rejected, "A batch is dropped, because it cannot be converted to cumulative points")
            return []
        } catch {
            return []
        }
        guard let file = outbox.mark(batch.file, at: place) else { return [] }
        var marked = batch
        marked.file = file
        ShippingMilestone.marked.reach()
        guard let outcome = upload(sent, file.id(of: outbox.instance), file, over: route) else {
            sums.keepWaiting(added, in: outbox)
            postpone(route, .costly, "no answer in time")
            return []
        }
        ShippingMilestone.answered.reach()
        switch outcome {
        case .delivered(let refusal):
            succeed(route, collectors)
            if let refusal { reportRefusal(refusal.reason) }
            let rejected = refusal.map { Self.rejectedRequests($0, of: file, sent) } ?? 0
            sums.keep(added, in: outbox)
            settle(marked, as: .delivered(rejected: rejected), in: &outbox)
        case .retry(let time, let mayHaveArrived, let reason):
            if mayHaveArrived {
                sums.keepWaiting(added, in: outbox)
            } else {
                marked.file = outbox.mark(file, at: batch.file.place) ?? file
            }
            postpone(route, time, reason)
            return [marked]
        case .split(let reason):
            if added != nil, !sums.sendsOnlyOwnStreams {
                sums.sendsOnlyOwnStreams = true
                marked.file = outbox.mark(file, at: batch.file.place) ?? file
                return [marked]
            }
            return split(marked, body, reason, in: &outbox, over: route)
        case .dropped(let why, let reason):
            reportRefusal(reason)
            settle(marked, as: .dropped(why), in: &outbox)
        }
        return []
    }

    /// - Returns: `nil` if an upload to another collector was given up because a caller waits.
    private mutating func upload(
        _ body: [UInt8], _ id: BatchID, _ file: BatchFile, over route: UploadRoute
    ) -> UploadOutcome? {
        let start = Clock.monotonic()
        uploader.start(body, batch: id, isCompressed: file.isCompressed, to: route.address)
        guard let end = awaitEnd(of: route) else { return nil }
        if case .answered(let answer) = end {
            let now = Clock.monotonic()
            backlogPause.note(.nanoseconds(Int64(clamping: now &- start)), at: now)
            routes.note(answer, over: route)
        }
        return UploadOutcome(end, signal: route.signal, over: uploader.way(to: route.address))
    }

    private func settle(
        _ batch: StoredBatch, as settlement: Settlement, in outbox: inout some BatchStore & ~Copyable
    ) {
        outbox.settle(batch.file, as: settlement)
        board.update { $0.bufferedBytes = max(0, $0.bufferedBytes - batch.size) }
    }

    private mutating func split(
        _ batch: StoredBatch, _ body: [UInt8], _ reason: String, in outbox: inout some BatchStore & ~Copyable,
        over route: UploadRoute
    ) -> [StoredBatch] {
        guard let parts = BatchSplit.parts(of: batch.file, body: body) else {
            reportRefusal(reason)
            settle(batch, as: .dropped(.tooLarge), in: &outbox)
            return []
        }
        do {
            try outbox.replace(batch.file, with: parts)
        } catch {
            postpone(route, .backOff, "\(reason); the parts of the divided batch cannot be stored")
            return []
        }
        let stored = parts.map {
            StoredBatch(file: $0.file, size: outbox.size(of: $0.file), modified: Clock.wall())
        }
        board.update { $0.bufferedBytes += stored.reduce(-batch.size) { $0 + $1.size } }
        return stored
    }

    /// Returns how many of a batch's requests the collector rejected. If the collector counts data points, this is known
    /// only if it rejected all of them; otherwise it is 0.
    private static func rejectedRequests(
        _ refusal: UploadOutcome.Refusal, of file: BatchFile, _ body: [UInt8]
    ) -> UInt64 {
        if let requests = refusal.requests { return requests }
        guard file.signal == .metrics, let plain = file.plain(body) else { return 0 }
        let points = PartialSuccess.dataPoints(inBody: plain)
        return points > 0 && refusal.points >= points ? file.requests : 0
    }

    /// Waits for an upload's end.
    ///
    /// - Returns: `nil` if an upload to another collector was given up because a caller waits.
    private mutating func awaitEnd(of route: UploadRoute) -> UploadEnd? {
        defer { uploader.cancel() }
        // libcurl has the same time-out. This one covers an end that libcurl does not notice, and a shutdown.
        let deadline = Clock.monotonic() &+ timeout &+ timeout / 4
        while true {
            if let end = uploader.proceed(for: MartletLimits.uploadWait) { return end }
            let now = Clock.monotonic()
            if now >= deadline || now >= requests.stopBy ?? .max {
                return .failed(mayHaveArrived: true, reason: "no answer in time")
            }
            if !isOwn(route.address), isElsewhereTimeUp() { return nil }
            whileWaiting()
        }
    }

    private mutating func succeed(_ route: UploadRoute, _ collectors: [URL]) {
        routes.succeed(route)
        news.succeed(route, of: collectors)
        guard isOwn(route.address) else { return }
        board.update {
            $0.lastUpload = Date()
            $0.lastCollector = CollectorAddress.plain(route.address)
            $0.uploadError = nil
        }
    }

    /// Delays uploads after a failure.
    private mutating func postpone(_ route: UploadRoute, _ time: RetryWait, _ reason: String) {
        let isOwn = isOwn(route.address)
        // An earlier address may be gone for good, so its delay grows faster.
        routes.fail(route, isOwn || time != .backOff ? time : .costly, at: Clock.monotonic())
        news.fail(route, time, reason)
        if isOwn { board.update { $0.uploadError = reason } }
    }

    private func reportRefusal(_ reason: String) {
        board.update { $0.uploadError = reason }
        log.warn(of: .rejected, "The collector rejected a batch or a part of it; the rejected data is lost: \(reason)")
    }
}

extension StoredBatch {
    /// Whether the collector may have received the batch so long ago that it has forgotten it.
    fileprivate var isExpired: Bool {
        let now = Clock.wall()
        return file.mayHaveArrived && now > modified && now - modified > MartletLimits.unknownOutcome.nanoseconds
    }
}

/// Divides a batch that is too large into parts.
enum BatchSplit {
    /// Returns two parts of a batch. `nil` if it cannot be divided: it has one series or one span, or was divided too
    /// often.
    static func parts(of file: BatchFile, body: [UInt8]) -> [EncodedBatch]? {
        guard file.part.utf8.count < BatchID.maxPartLength, let plain = file.plain(body),
            let halves = BodyHalves(plain, signal: file.signal)
        else { return nil }
        return try? [part(of: file, halves.first, "0"), part(of: file, halves.second, "1")]
    }

    private static func part(of file: BatchFile, _ half: BodyHalves.Half, _ digit: String) throws -> EncodedBatch {
        try EncodedBatch(
            half.body, sequence: file.sequence, first: file.first, part: file.part + digit, signal: file.signal,
            requests: half.requests, isCompressed: file.isCompressed)
    }
}
