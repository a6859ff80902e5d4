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
            rememberCalls, expire, shed, rollUp, foldProcesses, expire, thinLedgers, forgetBatches, saveClock, foldLog,
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
        let now = Int64(clamping: now())
        for pass in RollUp.Pass.frequent { try await rollUp(pass, due: max(0, now - pass.delay)) }
    }

    private func rollUp(_ pass: RollUp.Pass, due: Int64, _ time: PassTime? = nil) async throws {
        while !(time?.isOver ?? false) {
            let step = try await pool.read { [knownSeries] in try RollUp(pass, due: due, knownSeries, in: $0) }
            guard let step else { return }
            try await write { try step.write(in: $0) }
            try Task.checkCancellation()
        }
    }

    /// Makes hours of what came as hours, folds the old readings and figures of processes into the hours of their versions, and
    /// makes days of old hours, once an hour. The first call after a start does so too. A store of an older collector may have
    /// millions of them, so what takes too long goes on in the next pass.
    private func foldProcesses() async throws {
        let now = max(0, Int64(clamping: now()))
        let hour = Tier.hour.slotEnd(notAfter: max(0, now - Tier.minute.rollUpDelay))
        guard hour != folded.load(ordering: .relaxed) else { return }
        let old = Tier.hour.slotEnd(notAfter: max(0, retention.time(at: self.now()) - limits.retention.processes))
        let time = PassTime()
        try await rollUp(.hours, due: hour, time)
        try await rollUp(.hoursOfSpans, due: old, time)
        try await foldLedgers(until: old, time)
        while !time.isOver, try await write({ try FigureFolding.step(until: old, in: $0) }) {
            try Task.checkCancellation()
        }
        guard !time.isOver else { return }
        foldedUntil.store(old, ordering: .relaxed)
        // Days only make reports faster, so they wait for the rest.
        try await rollUp(.hoursOfVersions, due: old, time)
        guard !time.isOver else { return }
        folded.store(hour, ordering: .relaxed)
    }

    /// After a failed write, writes something that the file already has. While no batch arrives, nothing else would show that
    /// there is room again. Even on a full disk, the log may have room for so small a write, so this first checks the free
    /// room.
    private func lookForRoom() async throws {
        guard health.refusesWrites, !StoreSize.isDiskFull(near: pool.path) else { return }
        try await write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        health.noteRoom()
    }

    private func foldLedgers(until end: Int64, _ time: PassTime) async throws {
        var last: Int64 = 0
        while !time.isOver {
            let senders = try await pool.read { [last] in try LedgerFolding.senders(after: last, until: end, in: $0) }
            guard let latest = senders.last else { return }
            var left = senders
            while !left.isEmpty {
                left = try await write { [left] in try LedgerFolding.step(left, until: end, in: $0) }
                try Task.checkCancellation()
            }
            last = latest
        }
    }

    private func expire() async throws {
        let time = PassTime()
        while try await expireStep(), !time.isOver { try Task.checkCancellation() }
    }

    private func expireStep() async throws -> Bool {
        let clock = retention.advance(to: now())
        let expiry = Expiry(
            limits: limits, now: clock.time, isClockBelieved: clock.isBelieved,
            foldedUntil: foldedUntil.load(ordering: .relaxed))
        let outcome = try await write { [series] db in
            let outcome = try expiry.step(in: db)
            if outcome.deletedSeries { series.withLock { $0.removeAll() } }
            return outcome
        }
        early.add(crowdedDetails: outcome.earlyDetails)
        return outcome.isThereMore
    }

    private func shed() async throws {
        let shedding = Shedding(limit: limits.maxStoreBytes, now: retention.time(at: now()))
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

/// The time that one pass of maintenance spends on work that may wait for the next one. Between two passes, the log is folded.
private struct PassTime: Sendable {
    private let end = ContinuousClock.now + .seconds(5)

    var isOver: Bool { ContinuousClock.now >= end }
}
