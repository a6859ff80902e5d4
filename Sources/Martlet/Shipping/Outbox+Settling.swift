import Foundation
import MartletTelemetry

/// What became of a batch.
enum Settlement: Equatable {
    /// - Parameter rejected: so many of its requests were not taken.
    case delivered(rejected: UInt64)
    case dropped(DropReason)
}

/// The account, and the order in which it and the files change: the account first, so that no file is counted twice, and
/// the file after it.
extension Outbox {
    /// The batches that wait, oldest first. Those that are accounted for or that others stand for are removed. What was
    /// there and is gone was dropped by somebody else, and is counted so. `nil` when they cannot be listed now.
    mutating func batches() -> [StoredBatch]? { list(isFirst: false) }

    /// Which files are accounted for is of this directory alone.
    mutating func follow(_ other: OutboxAccount) {
        var other = other
        other.settled = account.settled
        guard other != account else { return }
        account = other
        saving = .due
    }

    /// Takes a batch out, for good.
    mutating func settle(_ file: BatchFile, as settlement: Settlement) {
        account.settle(file, as: settlement)
        conclude(file)
    }

    /// Counts requests that were never stored.
    ///
    /// - Parameter sequence: of their interval, so that nobody makes a batch of what the journal still has of it.
    mutating func drop(_ requests: UInt64, _ reason: DropReason, sequence: UInt64) {
        account.drop(requests, reason)
        account.seal(sequence)
        saving = .due
        removeSettled()
    }

    /// Takes out a batch that somebody listed before this process had the lock: its owner may have settled it since.
    mutating func dropToMakeRoom(_ file: BatchFile) {
        if batches()?.contains(where: { $0.file == file }) == true { settle(file, as: .dropped(.bufferFull)) }
    }

    /// Puts others into a batch's place that stand for the same requests. Throws, and nothing has changed, when they
    /// cannot be stored.
    mutating func replace(_ file: BatchFile, with parts: [(file: BatchFile, body: [UInt8])]) throws {
        do {
            for part in parts { try store(part.body, as: part.file) }
        } catch {
            for part in parts where unlink(path(of: part.file)) == 0 { waiting &-= part.file.requests }
            throw error
        }
        conclude(file)
    }

    /// Puts one batch into the place of several that stand for the same requests. Throws, and nothing has changed, when
    /// it cannot be stored.
    mutating func fold(_ files: [StoredBatch], into merged: BatchFile, body: [UInt8]) throws {
        try WholeFile.write(body, to: path(of: merged), in: directory.path)
        // What is left of them is removed by the next listing, and until then neither is sent.
        for batch in files { unlink(path(of: batch.file)) }
        // As old as what it is made of.
        if let last = files.last { setAge(of: merged, last.modified) }
    }

    /// Moves a file that is not what was written out of the way, and counts its requests as lost.
    mutating func setAside(_ file: BatchFile) {
        account.drop(file.requests, .corrupt)
        conclude(file, isWhole: false)
    }

    // MARK: -

    /// - Parameter isFirst: nothing is known yet that could be gone.
    @discardableResult
    mutating func list(isFirst: Bool) -> [StoredBatch]? {
        removeSettled()
        guard var batches = StoredBatch.all(in: directory) else { return nil }
        batches.removeAll { account.settled.contains($0.file.name) }
        var held: Set<BatchFile> = []
        for (whole, files) in StoredBatch.superseded(in: batches) {
            switch isWhole(whole) {
            case nil: held.formUnion([whole] + files)
            case true?:
                let left = files.filter { unlink(path(of: $0)) != 0 && errno != ENOENT }
                batches.removeAll { files.contains($0.file) }
                if !left.isEmpty { held.insert(whole) }
            case false?:
                let left = files.reduce(0) { $0 &+ $1.requests }
                loseWhole(whole, requests: whole.requests - min(left, whole.requests))
                batches.removeAll { $0.file == whole }
            }
        }
        count(batches, isFirst: isFirst)
        return batches.filter { !held.contains($0.file) }
    }

    private mutating func loseWhole(_ file: BatchFile, requests: UInt64) {
        account.drop(requests, .corrupt)
        waiting -= min(requests, waiting)
        account.settled.insert(file.name)
        saveAccount()
        if saving == .saved { quarantine.take(path(of: file), as: file.name) }
    }

    /// `nil` where it cannot be read now.
    private func isWhole(_ file: BatchFile) -> Bool? {
        FileManager.default.contents(atPath: path(of: file)).map { file.isWhole(Array($0)) }
    }

    private mutating func count(_ present: [StoredBatch], isFirst: Bool) {
        let requests = present.reduce(0) { $0 &+ $1.file.requests }
        defer { waiting = requests }
        guard !isFirst, requests != waiting else { return }
        if requests < waiting { account.drop(waiting - requests, .gone) } else { account.find(requests - waiting) }
        saving = .due
    }

    private mutating func conclude(_ file: BatchFile, isWhole: Bool = true) {
        waiting = waiting > file.requests ? waiting - file.requests : 0
        if file.signal == .metrics || file.requests > 0 || !isWhole {
            account.seal(file.sequence)
            account.settled.insert(file.name)
            saveAccount()
        }
        ShippingStep.settled.reach()
        if !isWhole, saving == .saved { quarantine.take(path(of: file), as: file.name) }
        if !account.settled.contains(file.name), unlink(path(of: file)) != 0, errno != ENOENT {
            account.settled.insert(file.name)
            saving = .due
        }
        removeSettled()
        ShippingStep.removed.reach()
    }

    /// Removes the files that are accounted for, if the account is safe. On a full disk it is the other way round, because
    /// only what is removed makes room for it: who is killed just then has an account that lacks these files.
    private mutating func removeSettled() {
        if saving != .saved { saveAccount() }
        if saving == .due { return }
        account.settled = account.settled.filter { name in unlink(path(name)) != 0 && errno != ENOENT }
        if saving == .withoutRoom { saveAccount() }
    }

    private mutating func saveAccount() {
        do throws(WholeFile.Failure) {
            try WholeFile.replace(
                path(OutboxAccount.fileName), with: Array(account.text.utf8), in: directory.path)
            saving = .saved
        } catch {
            saving = [ENOSPC, EDQUOT].contains(error.code) ? .withoutRoom : .due
        }
    }

    /// A broken account begins anew, and with it the instance's ledger: it is right for what waits and what comes, and
    /// knows nothing of what was delivered or dropped before.
    ///
    /// - Returns: `false` where there is one that cannot be read now.
    mutating func readAccount() -> Bool {
        let path = path(OutboxAccount.fileName)
        guard let bytes = FileManager.default.contents(atPath: path) else { return Self.isMissing(path) }
        if let read = OutboxAccount(text: String(decoding: bytes, as: UTF8.self)) {
            account = read
        } else {
            quarantine.take(path, as: OutboxAccount.fileName)
        }
        return true
    }
}
