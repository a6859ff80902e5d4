import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func maintain() async throws {
        retention.advance(to: now())
        try await health.noting {
            defer { reserve.make() }
            do {
                try await runSteps()
            } catch let error as DatabaseError where error.isFullDisk(at: pool.path) {
                guard reserve.release() else { throw error }
                // The log shrinks once its contents are in the file.
                try? await fold()
                try await runSteps()
            }
        }
        try await health.noting { try await lookForRoom() }
    }

    /// Runs all steps. Calls are remembered before spans are deleted. Expiry and shedding come next, because they make the room
    /// that the other steps need.
    private func runSteps() async throws {
        try await runAll([
            rememberCalls, expire, shed, rollUp, summarize, expire, thinLedgers, forgetBatches, saveClock, foldLog,
        ])
    }

    /// Runs each step, even if an earlier one failed: on a full disk, some steps work and others do not. Throws the first error.
    private func runAll(_ steps: [() async throws -> Void]) async throws {
        var failure: (any Error)?
        for step in steps {
            try Task.checkCancellation()
            do {
                try await step()
            } catch let error as DatabaseError where error.showsDamage {
                throw error
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func rollUp() async throws {
        for tier in [Tier.fine, .minute] {
            while try await rollUpStep(tier) { try Task.checkCancellation() }
        }
    }

    /// After a failed write, writes something that the file already has. While no batch arrives, nothing else would show that
    /// there is room again. Even on a full disk, the log may have room for so small a write, so this first checks the free
    /// room.
    private func lookForRoom() async throws {
        guard health.refusesWrites, !StoreSize.isDiskFull(near: pool.path) else { return }
        try await write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        health.noteRoom()
    }

    /// Rolls up some chunks. Returns whether more may be due.
    private func rollUpStep(_ tier: Tier) async throws -> Bool {
        let due = max(0, Int64(clamping: now()) - tier.rollUpDelay)
        guard let step = try await pool.read({ try RollUp(tier, due: due, in: $0) }) else { return false }
        try await write { try step.write(in: $0) }
        return true
    }

    /// Makes the summaries of completed slots. The first call of an hour, or after a start, also summarizes late points.
    private func summarize() async throws {
        let due = SummarySlot.end(notAfter: max(0, Int64(clamping: now()) - Tier.fine.rollUpDelay))
        let before = summarized.load(ordering: .relaxed)
        // Starts again if a fast clock has been set back.
        let done = (Tier.hour.slotEnd(notAfter: due)...due).contains(before) ? before : 0
        while let step = try await pool.read({ [knownSeries] in
            try SummaryBuilder(after: done, due: due, knownSeries, in: $0)
        }) {
            try await write { try step.write(in: $0) }
            try Task.checkCancellation()
        }
        summarized.store(due, ordering: .relaxed)
    }

    private func expire() async throws {
        while try await expireStep() { try Task.checkCancellation() }
    }

    private func expireStep() async throws -> Bool {
        let clock = retention.advance(to: now())
        let expiry = Expiry(limits: limits, now: clock.time, isClockBelieved: clock.isBelieved)
        let outcome = try await write { [series] db in
            let outcome = try expiry.step(in: db)
            if outcome.deletedSeries { series.withLock { $0.removeAll() } }
            return outcome
        }
        early.add(crowdedDetails: outcome.earlyDetails)
        return outcome.isThereMore
    }

    private func shed() async throws {
        let shedding = Shedding(limit: limits.maxStoreBytes)
        while let outcome = try await write({ try shedding.step(in: $0) }) {
            early.add(outcome)
            try Task.checkCancellation()
        }
    }

    private func saveClock() async throws {
        guard let time = retention.timeToSave() else { return }
        try await write { try RetentionClockRow.save(time, in: $0) }
    }

    private func foldLog() async throws {
        if StoreSize.bytes(ofFile: pool.path + "-wal") > limits.maxLogBytes { try await fold() }
    }

    /// Folds the log into the file. SQLite itself never resets the log while reports overlap. So new reports have to wait here
    /// until the current ones have ended. Batches are stored meanwhile.
    private func fold() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            pool.asyncBarrierWriteWithoutTransaction { result in
                continuation.resume(with: Result { try result.get().execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") })
            }
        }
    }

    /// Forgets batches once an hour.
    private func forgetBatches() async throws {
        let now = retention.time(at: now())
        let hour = Tier.hour.slotEnd(notAfter: max(0, now))
        guard hour > forgottenBatches.load(ordering: .relaxed) else { return }
        let oldest = now - Int64(clamping: limits.batchAge)
        while true {
            let streams = try await pool.read { try BatchStreamPruning.silent(since: oldest, in: $0) }
            try await write { try BatchStreamPruning.delete(streams, silentSince: oldest, in: $0) }
            try Task.checkCancellation()
            if streams.count < SQLiteLimits.deletedRows { break }
        }
        forgottenBatches.store(hour, ordering: .relaxed)
    }

    /// Thins ledgers once an hour. The first call after a start thins all of them.
    private func thinLedgers() async throws {
        let before = thinnedLedgers.load(ordering: .relaxed)
        let until = Tier.hour.slotEnd(
            notAfter: max(0, retention.time(at: now()) - limits.retention.age(.fine)))
        guard until > before else { return }
        while true {
            let hours = try await pool.read { try LedgerThinning.hours(from: before, to: until, in: $0) }
            try await write { db in for hour in hours { try LedgerThinning.thin(hour, in: db) } }
            try Task.checkCancellation()
            if hours.count < LedgerThinning.maxHours { break }
        }
        thinnedLedgers.store(until, ordering: .relaxed)
    }
}
