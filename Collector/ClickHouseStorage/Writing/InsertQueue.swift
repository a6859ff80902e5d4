import MartletStorage
import MartletTelemetry
import Synchronization

/// Joins waiting batches into one insert. If the queue is idle, a batch is inserted at once. Under load, inserts start at
/// intervals of ``ClickHouseLimits/insertPause``. Safe to use from any task.
final class InsertQueue: Sendable {
    private struct Job {
        let batch: PendingBatch
        let bytes: Int
        let continuation: CheckedContinuation<StoreOutcome, any Error>
    }

    /// How often the queue checks, during a pause, whether many batches are waiting.
    private static let look = Duration.milliseconds(50)

    private struct State {
        var waiting: [Job] = []
        var rows = 0
        var bytes = 0
        var isWriting = false
        var fault: String?
    }

    private let limits: ClickHouseLimits
    private let writer: Writer
    private let state = Mutex(State())

    init(_ writer: Writer, limits: ClickHouseLimits) {
        self.writer = writer
        self.limits = limits
    }

    /// Why the latest insert failed, in words that anyone may read; `nil` if it succeeded. ClickHouse's own text is in the log,
    /// because the next pass of maintenance tries an insert and logs its failure.
    var fault: String? { state.withLock { $0.fault } }

    /// Records that an insert by the store itself succeeded. While the store is not ready, there may be no batches whose
    /// inserts could show this.
    func noteInsert() { state.withLock { $0.fault = nil } }

    /// Stores a batch and returns after its insert has been answered. Throws ``StorageBusy`` if more batches wait than the
    /// limits allow. Continues even if its task is cancelled, because the same insert may contain other batches.
    func store(_ batch: PendingBatch) async throws -> StoreOutcome {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(batch: batch, bytes: batch.bytes, continuation: continuation)
            switch state.withLock({ add(job, to: &$0) }) {
            case .busy: continuation.resume(throwing: StorageBusy())
            case .first: Task { await writeAll() }
            case .behindOthers: break
            }
        }
    }

    private enum Admission {
        case first
        case behindOthers
        case busy
    }

    private func add(_ job: Job, to state: inout State) -> Admission {
        // If nothing is waiting, a job is accepted even if it is too large, because otherwise it would never be stored.
        let fits = state.waiting.count < limits.maxWaitingBatches && state.bytes + job.bytes <= limits.maxWaitingBytes
        guard state.waiting.isEmpty || fits else { return .busy }
        state.waiting.append(job)
        state.rows += job.batch.rows
        state.bytes += job.bytes
        guard !state.isWriting else { return .behindOthers }
        state.isWriting = true
        return .first
    }

    private func writeAll() async {
        let clock = ContinuousClock()
        while let jobs = state.withLock({ takeNext(&$0) }) {
            let end = clock.now + .seconds(limits.insertPause)
            await write(jobs)
            // There is a pause even if nothing is waiting now. A batch that arrives during it waits for the next insert.
            while clock.now < end, !state.withLock({ isMuchWaiting($0) }) { try? await clock.sleep(for: Self.look) }
        }
    }

    /// Whether there are enough rows for an insert, or the waiting batches use half of what the limits allow.
    private func isMuchWaiting(_ state: State) -> Bool {
        state.rows >= limits.maxRows || state.bytes >= limits.maxWaitingBytes / 2
            || state.waiting.count >= limits.maxWaitingBatches / 2
    }

    /// Inserts batches together. If ClickHouse refuses them, inserts their halves, so that one batch that cannot be stored does not
    /// hold up the others. Gives up after so many attempts as it takes to find one batch: then ClickHouse refuses them all.
    private func write(_ jobs: [Job]) async {
        var (parts, attempts) = ([jobs], 2 * (Int.bitWidth - jobs.count.leadingZeroBitCount))
        while let part = parts.popLast() {
            guard let error = await failure(toWrite: part) else { continue }
            attempts -= 1
            let isAway = (error as? ClickHouseError)?.isAway ?? false
            if attempts == 0 || isAway { return fail(([part] + parts).flatMap(\.self), error) }
            if part.count == 1 {
                fail(part, error)
            } else {
                parts += [part[(part.count / 2)...], part[..<(part.count / 2)]].map(Array.init)
            }
        }
    }

    /// Inserts batches together, and returns why that failed; `nil` if it did not.
    private func failure(toWrite jobs: [Job]) async -> (any Error)? {
        do {
            let outcomes = try await writer.write(jobs.map(\.batch))
            state.withLock { $0.fault = nil }
            for (job, outcome) in zip(jobs, outcomes) { job.continuation.resume(returning: outcome) }
            return nil
        } catch {
            return error
        }
    }

    private func fail(_ jobs: [Job], _ error: any Error) {
        state.withLock { $0.fault = (error as? ClickHouseError)?.summary ?? "an insert failed" }
        for job in jobs { job.continuation.resume(throwing: error) }
    }

    /// Takes the jobs for the next insert; `nil` if none waits.
    private func takeNext(_ state: inout State) -> [Job]? {
        var (count, rows) = (0, 0)
        while count < state.waiting.count, count == 0 || rows < limits.maxRows {
            rows += state.waiting[count].batch.rows
            count += 1
        }
        let jobs = Array(state.waiting.prefix(count))
        state.waiting.removeFirst(count)
        state.rows -= rows
        state.bytes -= jobs.reduce(0) { $0 + $1.bytes }
        state.isWriting = !jobs.isEmpty
        return jobs.isEmpty ? nil : jobs
    }
}

/// A batch that waits to be stored.
struct PendingBatch: Sendable {
    enum Contents: Sendable {
        case metrics([InstanceMetrics])
        case details([DetailsBatch])
    }

    let id: BatchID?
    let contents: Contents
    /// When it arrived, by the collector's clock.
    let arrival: UnixNanoseconds

    /// The estimated number of its rows.
    var rows: Int {
        switch contents {
        case .metrics(let metrics): metrics.reduce(1) { $0 + $1.rows }
        case .details(let details): details.reduce(1) { $0 + $1.details.count }
        }
    }

    /// Its estimated memory, in bytes.
    var bytes: Int {
        switch contents {
        case .metrics(let metrics): metrics.reduce(0) { $0 + $1.estimatedBytes }
        case .details(let details): details.reduce(0) { $0 + $1.estimatedBytes }
        }
    }

    /// The latest time in the batch, by the senders' clocks; 0 if there is none.
    var latestTime: UnixNanoseconds {
        switch contents {
        case .metrics(let metrics): metrics.reduce(0) { max($0, $1.latestTime) }
        case .details(let details): details.reduce(0) { max($0, $1.latestEnd) }
        }
    }
}

extension InstanceMetrics {
    /// Whether there are cumulative figures, of which only the differences count.
    var isCumulative: Bool { !cumulative.isEmpty || !processTotals.isEmpty }

    fileprivate var rows: Int {
        points.count + cumulative.count + process.count + processTotals.count + ends.count
    }
}
