import Foundation
import GRDB
import MartletStorage
import Synchronization

/// Joins what is stored at the same time into one transaction, so that many senders wait for one sync of the disk and not for
/// one each. What comes while a transaction is being written is in the next one, which waits a moment for the others that are
/// expected: under load much of what a small batch costs is its transaction. Safe to use from any task.
final class CommitQueue: Sendable {
    typealias Work = @Sendable (Database) throws -> StoreOutcome

    fileprivate struct Job {
        let bytes: Int
        let work: Work
        let continuation: CheckedContinuation<StoreOutcome, any Error>
    }

    fileprivate struct State {
        var waiting: [Job] = []
        var bytes = 0
        var isWriting = false
        var expected = ExpectedBatches()
    }

    private let pool: DatabasePool
    private let limits: SQLiteLimits
    /// Called when a transaction was rolled back, before the next one.
    private let onRollback: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ pool: DatabasePool, limits: SQLiteLimits, onRollback: @escaping @Sendable () -> Void) {
        self.pool = pool
        self.limits = limits
        self.onRollback = onRollback
    }

    /// Returns when the work's transaction is on disk, and throws what the work threw, of which nothing is. Throws
    /// ``StorageBusy`` where it would have to wait behind more than the limits allow.
    ///
    /// Goes on when its task is cancelled: others may be in the same transaction.
    ///
    /// - Parameter bytes: roughly what the work holds while it waits.
    func commit(bytes: Int, _ work: @escaping Work) async throws -> StoreOutcome {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job(bytes: bytes, work: work, continuation: continuation)
            switch state.withLock({ $0.add(job, limits) }) {
            case .busy: continuation.resume(throwing: StorageBusy())
            case .first: write()
            case .behindOthers: break
            }
        }
    }

    /// The writer's queue is first in, first out: what else is to be written gets its turn between two transactions.
    private func write() {
        pool.asyncWriteWithoutTransaction { [self] db in
            if state.withLock({ $0.expected.areMore(than: $0.waiting.count) }) {
                Thread.sleep(forTimeInterval: limits.commitDelay)
            }
            let jobs = state.withLock { $0.takeAll() }
            let results = results(of: jobs, in: db)
            // Before any sender is answered, which may be back at once and is no other.
            state.withLock { $0.expected = ExpectedBatches(after: jobs.count, with: $0.waiting.count) }
            for (job, result) in zip(jobs, results) { job.continuation.resume(with: result) }
            if state.withLock({ $0.isThereMore() }) { write() }
        }
    }

    /// One that fails fails alone: the others are written again without it.
    private func results(of jobs: [Job], in db: Database) -> [Result<StoreOutcome, any Error>] {
        do {
            var outcomes: [StoreOutcome] = []
            try db.inTransaction(.immediate) {
                outcomes = try jobs.map { job throws in
                    do { return try job.work(db) } catch { throw JobFailure(error: error) }
                }
                return .commit
            }
            return outcomes.map { .success($0) }
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
    fileprivate enum Place {
        case first
        case behindOthers
        case busy
    }

    fileprivate mutating func add(_ job: CommitQueue.Job, _ limits: SQLiteLimits) -> Place {
        // One alone is taken whatever its size: it would never fit.
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
