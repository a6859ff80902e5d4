import Foundation
import MartletOTLP
import MartletTelemetry

/// One instance's batches on disk and the account of those that are gone, locked by this process. The instance is this
/// process, or a dead one that it took over. Not thread-safe.
struct Outbox: BatchStore, ~Copyable {
    let instance: String
    let directory: URL
    /// The service's directory, in which other instances have their directories too.
    let serviceDirectory: URL
    private let lock: FileLock
    /// The account in memory. The copy on disk lags only while writes fail.
    var account: OutboxAccount
    var saving = AccountSaving.saved
    /// Whether the owner's file would survive a power cut. It must, as soon as the directory has a batch.
    var isOwnerSynced = true
    /// Requests in the outbox's files, as far as this process knows. The next listing counts those that are missing as
    /// gone.
    var waiting: UInt64 = 0
    /// Whether the instance is dead.
    private let isAdopted: Bool
    /// The requests that were ever stored, and the highest sequence of their batches, as last noted (``noteStored(_:)``).
    private var stored: (requests: UInt64, sequence: UInt64) = (0, 0)

    enum AccountSaving {
        case saved
        /// The account has to be written, or its write failed.
        case due
        /// The disk is full.
        case withoutRoom
    }

    /// Creates the directory of a starting instance.
    ///
    /// - Parameter account: the account of a running instance that lost its directory; `nil` to read the one on disk.
    static func create(instance: String, in serviceDirectory: URL, account: OutboxAccount? = nil) throws -> Outbox {
        try BufferDirectory.create(serviceDirectory)
        guard let lock = FileLock(path: lockPath(of: instance, in: serviceDirectory), isNew: true) else {
            throw WholeFile.Failure(operation: "lock", code: errno)
        }
        var outbox = Outbox(instance: instance, in: serviceDirectory, lock: lock)
        do {
            try BufferDirectory.create(outbox.directory)
        } catch {
            if !outbox.isThere { outbox.close() }
            throw error
        }
        guard outbox.recover(account) else { throw WholeFile.Failure(operation: "read the account", code: EIO) }
        return outbox
    }

    /// Takes over a dead instance's batches. `nil` while a process holds its lock, and for a directory without a lock,
    /// which belongs to another program that shares the service's directory.
    static func adopt(instance: String, in serviceDirectory: URL) -> Outbox? {
        let path = lockPath(of: instance, in: serviceDirectory)
        let directory = serviceDirectory.appendingPathComponent(instance, isDirectory: true)
        // A starting process creates its lock before its directory.
        guard !isMissing(directory.path) || isLeftOver(path, of: instance),
            let lock = FileLock(path: path, isNew: false)
        else { return nil }
        var outbox = Outbox(instance: instance, in: serviceDirectory, lock: lock, isAdopted: true)
        guard outbox.recover(nil) else { return nil }
        return outbox
    }

    private init(
        instance: String, in serviceDirectory: URL, lock: consuming FileLock, isAdopted: Bool = false
    ) {
        self.instance = instance
        self.isAdopted = isAdopted
        self.serviceDirectory = serviceDirectory
        self.directory = serviceDirectory.appendingPathComponent(instance, isDirectory: true)
        self.lock = lock
        account = OutboxAccount()
    }

    /// Reads the account and lists the batches.
    ///
    /// - Returns: `false` if the account cannot be read now, because its content must not be lost.
    private mutating func recover(_ account: OutboxAccount?) -> Bool {
        removeTemporaryFiles()
        quarantine.removeOld()
        if let account { self.account = account } else if !readAccount() { return false }
        list(isFirst: true)
        return true
    }

    /// Whether the directory exists, writable or not.
    var isThere: Bool { !Self.isMissing(directory.path) }

    /// Whether the directory and its lock exist and the lock is held. `false` if either was removed, or if the service
    /// closed the lock's descriptor. Only a write can show whether the directory is writable.
    var isUsable: Bool {
        lock.isHeld && access(directory.path, F_OK) == 0
            && access(Self.lockPath(of: instance, in: serviceDirectory), F_OK) == 0
    }

    /// The highest sequence of any batch so far; `nil` if the batches cannot be listed now.
    var lastSequence: UInt64? {
        let last = max(account.lastSettledSequence, stored.sequence)
        return StoredBatch.all(in: directory)?.reduce(last) { max($0, $1.file.sequence) }
    }

    /// Returns the ledger of a dead instance, which only its account and its batches show.
    ///
    /// - Parameter unsealed: requests that are not in a batch yet.
    func ledger(unsealed: UInt64) -> Ledger {
        account.ledger(captured: account.total &+ waiting &+ unsealed)
    }

    /// Stores a batch.
    ///
    /// - Parameter modified: when it was written before, or first sent; `nil` for now.
    mutating func store(
        _ bytes: [UInt8], as file: BatchFile, modified: UnixNanoseconds? = nil
    ) throws(WholeFile.Failure) {
        try write(bytes, as: file)
        if let modified { setAge(of: file, modified) }
        noteStored(file)
    }

    private mutating func write(_ bytes: [UInt8], as file: BatchFile) throws(WholeFile.Failure) {
        try syncOwner()
        try WholeFile.write(bytes, to: path(of: file), in: directory.path)
        waiting &+= file.requests
    }

    func setAge(of file: BatchFile, _ modified: UnixNanoseconds) {
        let date = Date(timeIntervalSince1970: Double(modified) / 1e9)
        try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path(of: file))
    }

    /// Returns the batch's body. `nil` also if the file is damaged, in which case it is moved into quarantine.
    mutating func read(_ file: BatchFile) -> [UInt8]? {
        guard let bytes = FileManager.default.contents(atPath: path(of: file)).map(Array.init) else { return nil }
        if file.isWhole(bytes) { return bytes }
        setAside(file)
        return nil
    }

    func size(of file: BatchFile) -> Int { DiskUse.bytes(at: path(of: file)) }

    /// Marks a batch in its name.
    func mark(_ file: BatchFile, at place: PossibleHolder?) -> BatchFile? {
        if file.mayHaveArrived, file.place == place { return file }
        var sent = file
        (sent.mayHaveArrived, sent.place) = (true, place)
        // The file's time is the earliest time at which the collector may know the batch.
        if !file.mayHaveArrived { utimes(path(of: file), nil) }
        guard rename(path(of: file), path(of: sent)) == 0 else { return nil }
        // If a removed mark comes back after a power cut, the batch only waits for that collector.
        guard place == nil || (try? WholeFile.sync(directory: directory.path)) != nil else { return nil }
        return sent
    }

    /// Whether the account of a dead instance has losses that must be reported before its directory is removed.
    var hasUnreportedLoss: Bool { isAdopted && account.hasUnreportedLoss }

    /// Whether the directory has not changed for so long that no process is expected to report its losses.
    private var isOld: Bool {
        var status = stat()
        guard stat(directory.path, &status) == 0 else { return false }
        return time(nil) - status.modification.tv_sec > MartletLimits.quarantine.components.seconds
    }

    /// Removes directory and lock if nothing waits. Releases the lock. The outbox cannot be used afterwards.
    ///
    /// - Parameter isForgotten: whether to remove them even if the account has losses to report.
    consuming func close(isForgotten: Bool = false) {
        if hasUnreportedLoss, !isForgotten, !isOld { return }
        rmdir(quarantine.directory.path)
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
        guard names != nil || Self.isMissing(directory.path) else { return }
        guard (names ?? []).allSatisfy(Self.ownFiles.contains) else { return }
        for name in names ?? [] { unlink(path(name)) }
        if rmdir(directory.path) == 0 || errno == ENOENT { unlink(Self.lockPath(of: instance, in: serviceDirectory)) }
    }

    // MARK: -

    /// Files that describe the batches and are useless without them.
    private static let ownFiles: Set = [OutboxAccount.fileName, CumulativeSums.fileName, storedFileName, ownerFileName]
    static let ownerFileName = "resource"

    /// Removes the temporary files of interrupted writes.
    private func removeTemporaryFiles() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let own = Set(Self.ownFiles.map { $0 + WholeFile.temporarySuffix })
        for name in names where BatchFile(temporaryName: name) != nil || own.contains(name) { unlink(path(name)) }
    }

    static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// Returns whether a lock is left over from an instance whose directory is gone. A lock whose name is not a UUID
    /// belongs to another program that shares the service's directory.
    private static func isLeftOver(_ path: String, of instance: String) -> Bool {
        var status = stat()
        guard UUID(uuidString: instance) != nil, stat(path, &status) == 0 else { return false }
        return time(nil) - status.modification.tv_sec > MartletLimits.staleLock.components.seconds
    }

    var quarantine: Quarantine { Quarantine(outbox: directory) }

    func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    func path(of file: BatchFile) -> String { path(file.name) }

    private static func lockPath(of instance: String, in serviceDirectory: URL) -> String {
        serviceDirectory.appendingPathComponent(instance + BufferDirectory.lockSuffix).path
    }
}

/// Changes of the account and the files. The account changes first, so that no file is counted twice, and the file
/// after it.
extension Outbox {
    /// Returns the batches that wait, oldest first; `nil` if they cannot be listed now. Removes files that are settled
    /// and files that other files cover. A batch that disappeared was dropped by another process, and is counted as
    /// such.
    mutating func batches() -> [StoredBatch]? { list(isFirst: false) }

    /// Takes over another store's account. The list of settled files stays, because it belongs to this directory.
    mutating func adopt(account other: OutboxAccount) {
        var other = other
        other.settled = account.settled
        guard other != account else { return }
        account = other
        saving = .due
    }

    /// Removes a batch for good, and notes its end in the account.
    mutating func settle(_ file: BatchFile, as settlement: Settlement) {
        account.settle(file, as: settlement)
        takeOut(file)
    }

    /// Counts requests that were never stored as dropped.
    ///
    /// - Parameter sequence: the sequence of their interval, so that no process later makes a batch of that interval
    ///   from the journal.
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

    /// Replaces a batch with parts that cover the same requests. If they cannot be stored, throws and changes nothing.
    mutating func replace(_ file: BatchFile, with parts: [EncodedBatch]) throws {
        do {
            for part in parts { try write(part.body, as: part.file) }
        } catch {
            for part in parts where unlink(path(of: part.file)) == 0 { waiting &-= part.file.requests }
            throw error
        }
        takeOut(file)
    }

    /// Replaces several batches with one that covers the same requests. If it cannot be stored, throws and changes
    /// nothing.
    mutating func merge(_ files: [StoredBatch], into merged: EncodedBatch) throws {
        try WholeFile.write(merged.body, to: path(of: merged.file), in: directory.path)
        // The next listing removes files that remain. Until then neither they nor the merged file are sent.
        for batch in files { unlink(path(of: batch.file)) }
        // The merged file is as old as the last batch in it.
        if let last = files.last { setAge(of: merged.file, last.modified) }
    }

    /// Moves a damaged file into quarantine, and counts its requests as lost.
    mutating func setAside(_ file: BatchFile) {
        account.drop(file.requests, .corrupt)
        if file.signal == .metrics { account.noteReport(false) }
        takeOut(file, isWhole: false)
    }

    // MARK: -

    /// Notes that a batch has all losses of the account.
    mutating func noteReport() {
        account.noteReport()
        saving = .due
        removeSettled()
    }

    /// Lists the batches that wait, as ``batches()`` does.
    ///
    /// - Parameter isFirst: whether this is the first listing. Before it only the number of stored requests is known
    ///   (``noteStored(_:)``).
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

    /// Returns whether the file is complete; `nil` if it cannot be read now.
    private func isWhole(_ file: BatchFile) -> Bool? {
        FileManager.default.contents(atPath: path(of: file)).map { file.isWhole(Array($0)) }
    }

    private mutating func count(_ present: [StoredBatch], isFirst: Bool) {
        let requests = present.reduce(0) { $0 &+ $1.file.requests }
        defer { waiting = requests }
        if isFirst { waiting = max(requests, stored.requests - min(stored.requests, account.total)) }
        guard requests != waiting else { return }
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

    /// Removes the settled files once the account is saved. On a full disk it removes them first, because only that
    /// makes room for the account. If the process is killed at that moment, the account lacks these files.
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

    /// Reads the account. If it is damaged, a new account begins, and with it a new ledger of the instance. That ledger
    /// is right for waiting and later requests, but lacks those that were delivered or dropped before.
    ///
    /// - Returns: `false` if the file exists and cannot be read now.
    mutating func readAccount() -> Bool {
        let path = path(OutboxAccount.fileName)
        stored = readStored()
        guard let bytes = FileManager.default.contents(atPath: path) else { return Self.isMissing(path) }
        if let read = OutboxAccount(text: String(decoding: bytes, as: UTF8.self)) {
            account = read
        } else {
            quarantine.take(path, as: OutboxAccount.fileName)
            // Without the account it is unknown how many of the stored requests are gone.
            stored.requests = 0
            unlink(self.path(Self.storedFileName))
        }
        return true
    }
}

/// The file with the number of all requests that were ever stored. The number only grows, so after a power cut an old
/// one does no harm: it only hides that a batch is missing.
extension Outbox {
    static let storedFileName = "stored"

    /// Notes how many requests were stored until now, so that the next process sees if a batch was removed.
    private mutating func noteStored(_ file: BatchFile) {
        // The next process compares the number with the account on disk.
        guard saving == .saved else { return }
        stored = (account.total &+ waiting, max(stored.sequence, file.sequence))
        let numbers = "\(stored.requests) \(stored.sequence)"
        let text = "\(numbers) \(Gzip.crc32(Array(numbers.utf8)))\n"
        try? WholeFile.replaceUnsynced(path(Self.storedFileName), with: Array(text.utf8))
    }

    /// Reads what was noted last; zeroes if the file is missing or damaged.
    private func readStored() -> (requests: UInt64, sequence: UInt64) {
        let bytes = FileManager.default.contents(atPath: path(Self.storedFileName)) ?? Data()
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count == 3, let requests = UInt64(words[0]), let sequence = UInt64(words[1]),
            words[2] == "\(Gzip.crc32(Array("\(requests) \(sequence)".utf8)))"
        else { return (0, 0) }
        return (requests, sequence)
    }
}

extension Outbox {
    /// The sums of the delivered batches; `nil` if there are none, or they cannot be read.
    var sums: CumulativeSums? {
        FileManager.default.contents(atPath: path(CumulativeSums.fileName)).flatMap { CumulativeSums(file: Array($0)) }
    }

    /// Stores the sums so that they survive a power cut. If they cannot be stored, the old ones are removed: restarted
    /// streams are valid, but sums that decrease are not.
    func keep(_ sums: CumulativeSums) {
        let path = path(CumulativeSums.fileName)
        do {
            try WholeFile.replace(path, with: sums.file(), in: directory.path)
        } catch {
            unlink(path)
        }
    }

    /// Removes the sums, because the batches that are delivered next will not be added to them.
    func removeSums() { unlink(path(CumulativeSums.fileName)) }
}
