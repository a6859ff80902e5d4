import Foundation
import GRDB
import MartletStorage
import Synchronization

/// Joins batches that arrive at the same time into one transaction, so that many senders share one sync of the disk. Batches
/// that arrive while a transaction is being written go into the next one. The next one first waits a moment for further
/// expected batches, because under load the transaction is much of the cost of a small batch. Safe to use from any task.
final class CommitQueue: Sendable {
    typealias Work = @Sendable (Database) throws -> StoredBatch

    fileprivate struct Job {
        let bytes: Int
        let work: Work
        let continuation: CheckedContinuation<StoredBatch, any Error>
    }

    fileprivate struct State {
        var waiting: [Job] = []
        var bytes = 0
        var isWriting = false
        var expected = ExpectedBatches()
    }

    private let pool: DatabasePool
    private let limits: SQLiteLimits
    /// Called after a transaction was rolled back, before the next one.
    private let onRollback: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ pool: DatabasePool, limits: SQLiteLimits, onRollback: @escaping @Sendable () -> Void) {
        self.pool = pool
        self.limits = limits
        self.onRollback = onRollback
    }

    /// Stores a batch and returns once its transaction is on disk. Throws the error of `work`, whose changes are then rolled back.
    /// Throws ``StorageBusy`` if more batches wait than the limits allow.
    ///
    /// Continues if its task is cancelled, because the same transaction may contain other batches.
    ///
    /// - Parameter bytes: the estimated memory that the work holds while it waits.
    func commit(bytes: Int, _ work: @escaping Work) async throws -> StoredBatch {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(bytes: bytes, work: work, continuation: continuation)
            switch state.withLock({ $0.add(job, limits) }) {
            case .busy: continuation.resume(throwing: StorageBusy())
            case .first: write()
            case .behindOthers: break
            }
        }
    }

    /// Writes the waiting jobs as one transaction. The writer's queue is first in, first out, so other writes run between two
    /// transactions.
    private func write() {
        pool.asyncWriteWithoutTransaction { [self] db in
            if state.withLock({ $0.expected.areMore(than: $0.waiting.count) }) {
                Thread.sleep(forTimeInterval: limits.commitDelay)
            }
            let jobs = state.withLock { $0.takeAll() }
            let results = results(of: jobs, in: db)
            // This comes before the answers: once a sender has its answer, it may send again at once, and would be counted
            // twice.
            state.withLock { $0.expected = ExpectedBatches(after: jobs.count, with: $0.waiting.count) }
            for (job, result) in zip(jobs, results) { job.continuation.resume(with: result) }
            if state.withLock({ $0.isThereMore() }) { write() }
        }
    }

    /// Runs the jobs in one transaction. If a job fails, the jobs run one by one, so that only that job fails.
    private func results(of jobs: [Job], in db: Database) -> [Result<StoredBatch, any Error>] {
        do {
            var batches: [StoredBatch] = []
            try db.inTransaction(.immediate) {
                batches = try jobs.map { job throws in
                    do { return try job.work(db) } catch { throw JobFailure(error: error) }
                }
                return .commit
            }
            return batches.map { .success($0) }
        } catch let failure as JobFailure {
            onRollback()
            guard jobs.count > 1 else { return [.failure(failure.error)] }
            return jobs.flatMap { results(of: [$0], in: db) }
        } catch {
            onRollback()
            return jobs.map { _ in .failure(error) }
        }
    }

    private struct JobFailure: Error {
        let error: any Error
    }
}

extension CommitQueue.State {
    fileprivate enum Admission {
        case first
        case behindOthers
        case busy
    }

    fileprivate mutating func add(_ job: CommitQueue.Job, _ limits: SQLiteLimits) -> Admission {
        // If no other job waits, a job is accepted even if it exceeds the limits. Otherwise it would never be accepted.
        let isAlone = waiting.isEmpty
        guard isAlone || (waiting.count < limits.maxWaitingBatches && bytes + job.bytes <= limits.maxWaitingBytes)
        else { return .busy }
        waiting.append(job)
        bytes += job.bytes
        guard !isWriting else { return .behindOthers }
        isWriting = true
        return .first
    }

    fileprivate mutating func takeAll() -> [CommitQueue.Job] {
        defer { (waiting, bytes) = ([], 0) }
        return waiting
    }

    fileprivate mutating func isThereMore() -> Bool {
        isWriting = !waiting.isEmpty
        return isWriting
    }
}

/// The number of batches that a transaction may expect: those of the last transaction, and those waiting when it ended. Senders
/// mostly send the next batch once they have the answer. So a single sender waits at most once.
package struct ExpectedBatches: Sendable {
    private let count: Int

    /// Creates the expectation before the first transaction: zero batches.
    package init() {
        count = 0
    }

    /// - Parameters:
    ///   - written: batches of the transaction that ended.
    ///   - waiting: batches waiting when it ended.
    package init(after written: Int, with waiting: Int) {
        count = written + waiting
    }

    package func areMore(than waiting: Int) -> Bool { waiting < count }
}

/// The data that a batch added to the store.
struct StoredBatch: Sendable {
    var outcome: StoreOutcome
    var points: [InstanceMetrics] = []
    var spans = 0
    /// Older details deleted to make room.
    var crowdedDetails = 0
}
