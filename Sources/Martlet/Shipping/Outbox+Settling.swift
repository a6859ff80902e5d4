import Foundation
import MartletTelemetry

/// The account and the files, in the order in which they change: the account first, so that no file is counted twice, and the
/// file after it.
extension Outbox {
    /// Returns the batches that wait, oldest first; `nil` if they cannot be listed now. It removes files that are settled and
    /// files that others stand for. A batch that disappeared was dropped by another process, and is counted so.
    mutating func batches() -> [StoredBatch]? { list(isFirst: false) }

    /// Takes over another store's account. The settled files stay, because they are of this directory alone.
    mutating func adopt(account other: OutboxAccount) {
        var other = other
        other.settled = account.settled
        guard other != account else { return }
        account = other
        saving = .due
    }

    /// Takes a batch out for good, and notes its end in the account.
    mutating func settle(_ file: BatchFile, as settlement: Settlement) {
        account.settle(file, as: settlement)
        takeOut(file)
    }

    /// Counts requests as dropped that were never stored.
    ///
    /// - Parameter sequence: the sequence of their interval, so that nobody makes a batch of the interval's records in the
    ///   journal.
    mutating func drop(_ requests: UInt64, _ reason: DropReason, sequence: UInt64) {
        account.drop(requests, reason)
        account.noteSettled(sequence)
        saving = .due
        removeSettled()
    }

    /// Drops a batch that was listed before this process had the lock, unless its owner has settled it since.
    mutating func dropToMakeRoom(_ file: BatchFile) {
        if batches()?.contains(where: { $0.file == file }) == true { settle(file, as: .dropped(.bufferFull)) }
    }

    /// Replaces a batch with parts that stand for the same requests. Throws, and nothing has changed, if they cannot be
    /// stored.
    mutating func replace(_ file: BatchFile, with parts: [EncodedBatch]) throws {
        do {
            for part in parts { try store(part.body, as: part.file) }
        } catch {
            for part in parts where unlink(path(of: part.file)) == 0 { waiting &-= part.file.requests }
            throw error
        }
        takeOut(file)
    }

    /// Replaces several batches with one that stands for the same requests. Throws, and nothing has changed, if it cannot be
    /// stored.
    mutating func merge(_ files: [StoredBatch], into merged: EncodedBatch) throws {
        try WholeFile.write(merged.body, to: path(of: merged.file), in: directory.path)
        // The next listing removes files that are left. Until then neither they nor the merged file are sent.
        for batch in files { unlink(path(of: batch.file)) }
        // The merged file is as old as the last batch in it.
        if let last = files.last { setAge(of: merged.file, last.modified) }
    }

    /// Moves a damaged file into quarantine, and counts its requests as lost.
    mutating func setAside(_ file: BatchFile) {
        account.drop(file.requests, .corrupt)
        takeOut(file, isWhole: false)
    }

    // MARK: -

    /// Lists the batches that wait, as ``batches()`` does.
    ///
    /// - Parameter isFirst: whether this is the first listing, before which no batch is known that could have disappeared.
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

    /// Returns whether the file is whole; `nil` if it cannot be read now.
    private func isWhole(_ file: BatchFile) -> Bool? {
        FileManager.default.contents(atPath: path(of: file)).map { file.isWhole(Array($0)) }
    }

    private mutating func count(_ present: [StoredBatch], isFirst: Bool) {
        let requests = present.reduce(0) { $0 &+ $1.file.requests }
        defer { waiting = requests }
        guard !isFirst, requests != waiting else { return }
        if requests < waiting { account.drop(waiting - requests, .gone) } else { account.restore(requests - waiting) }
        saving = .due
    }

    private mutating func takeOut(_ file: BatchFile, isWhole: Bool = true) {
        waiting = waiting > file.requests ? waiting - file.requests : 0
        if file.signal == .metrics || file.requests > 0 || !isWhole {
            account.noteSettled(file.sequence)
            account.settled.insert(file.name)
            saveAccount()
        }
        ShippingMilestone.settled.reach()
        if !isWhole, saving == .saved { quarantine.take(path(of: file), as: file.name) }
        if !account.settled.contains(file.name), unlink(path(of: file)) != 0, errno != ENOENT {
            account.settled.insert(file.name)
            saving = .due
        }
        removeSettled()
        ShippingMilestone.removed.reach()
    }

    /// Removes the settled files once the account is saved. On a full disk it removes them first, because only that makes
    /// room for the account: a process that is killed just then leaves an account that lacks these files.
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

    /// Reads the account. If it is damaged, a new one begins, and with it the instance's ledger: it is right for requests
    /// that wait and requests that come, and lacks those that were delivered or dropped before.
    ///
    /// - Returns: `false` if the file exists and cannot be read now.
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
