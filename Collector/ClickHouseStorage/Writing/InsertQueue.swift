import MartletStorage
import Synchronization

/// Joins the batches that wait into one insert. A batch that is alone is inserted at once; under load there is one insert in
/// each pause. Safe to use from any task.
final class InsertQueue: Sendable {
    private struct Job {
        let batch: PendingBatch
        let bytes: Int
        let continuation: CheckedContinuation<StoreOutcome, any Error>
    }

    /// The time after which the queue looks again whether much waits.
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

    /// The reason why the latest insert failed, for anybody to read; `nil` if it did not. The log has the words of ClickHouse: the next
    /// pass of maintenance tries an insert.
    var fault: String? { state.withLock { $0.fault } }

    /// Takes note that an insert of the store itself was answered. Nobody may send batches while the store is not ready.
    func noteInsert() { state.withLock { $0.fault = nil } }

    /// Stores a batch and returns after the answer to its insert. Throws ``StorageBusy`` if more wait than the limits allow.
    /// Goes on if its task is cancelled, because other batches are in the same insert.
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
        // A job that is alone is taken even if it is too large, because it would never fit.
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
            // The pause also follows a last insert: a batch that comes in it waits for the next one.
            while clock.now < end, !state.withLock({ isMuchWaiting($0) }) { try? await clock.sleep(for: Self.look) }
        }
    }

    /// Whether the next insert is large enough, or half of the room for waiting batches is full.
    private func isMuchWaiting(_ state: State) -> Bool {
        state.rows >= limits.maxRows || state.bytes >= limits.maxWaitingBytes / 2
            || state.waiting.count >= limits.maxWaitingBatches / 2
    }

    private func write(_ jobs: [Job]) async {
        do {
            let outcomes = try await writer.write(jobs.map(\.batch))
            state.withLock { $0.fault = nil }
            for (job, outcome) in zip(jobs, outcomes) { job.continuation.resume(returning: outcome) }
        } catch {
            state.withLock { $0.fault = (error as? ClickHouseError)?.summary ?? "an insert failed" }
            for job in jobs { job.continuation.resume(throwing: error) }
        }
    }

    /// Takes the jobs of the next insert; `nil` if none waits.
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
