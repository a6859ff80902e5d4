import Foundation
import MartletTelemetry

/// The directories of other processes, and what this process saw in those that it could not empty. A round opens only a
/// few. It skips a directory that has not changed since the last visit, as long as its batches cannot be sent. Not
/// thread-safe.
struct AbandonedOutboxes {
    struct Place: Hashable {
        let instance: String
        let serviceDirectory: URL

        /// When the directory was last changed; `nil` if it does not exist.
        var modified: UnixNanoseconds? {
            var status = stat()
            guard lstat("\(serviceDirectory.path)/\(instance)", &status) == 0 else { return nil }
            return status.modified
        }
    }

    /// A directory after a visit.
    struct Sighting {
        /// When the directory was last changed.
        let modified: UnixNanoseconds?
        /// When it was visited, in nanoseconds of the monotonic clock.
        let time = Clock.monotonic()
        /// The collectors that the batches were recorded for; `nil` if unknown.
        let recorded: [URL]?
        /// The collectors that this process sends them to; `nil` if it does not send them.
        let present: [URL]?
        let signals: Set<Signal>
        let batches: Int
        let requests: UInt64

        init(modified: UnixNanoseconds?, recorded: [URL]?, present: [URL]?, _ batches: [StoredBatch]) {
            (self.modified, self.recorded, self.present) = (modified, recorded, present)
            signals = Set(batches.map(\.file.signal))
            self.batches = batches.count
            requests = batches.reduce(0) { $0 &+ $1.file.requests }
        }

        /// The routes over which the batches may be sent.
        var routes: [UploadRoute] { UploadRoutes.all(to: present ?? []).filter { signals.contains($0.signal) } }
    }

    private(set) var sightings: [Place: Sighting] = [:]
    /// The instances of each service's directory that are still to be looked at, from its last listing.
    private var pending: [URL: ArraySlice<String>] = [:]
    /// The directories that were listed in this round.
    private var listed: Set<URL> = []
    private var (looks, visits) = (0, 0)
    /// The routes that the batches of skipped directories wait for, in this round.
    private(set) var awaited: Set<UploadRoute> = []

    mutating func beginRound() {
        (listed, awaited) = ([], [])
        (looks, visits) = (0, 0)
    }

    /// Returns the next directory to open; `nil` if there is none, or this round has opened enough.
    ///
    /// - Parameters:
    ///   - own: this process.
    ///   - canSend: whether a batch can be sent over one of the routes now.
    mutating func next(in directory: URL, except own: String, canSend: ([UploadRoute]) -> Bool) -> Place? {
        if pending[directory, default: []].isEmpty, listed.insert(directory).inserted { list(directory) }
        while looks < MartletLimits.looks, visits < MartletLimits.visits,
            let instance = pending[directory]?.popFirst()
        {
            let place = Place(instance: instance, serviceDirectory: directory)
            looks += 1
            guard instance != own, isWorthAVisit(place, canSend) else { continue }
            visits += 1
            return place
        }
        return nil
    }

    /// Notes what a visit left; `nil` if the directory is gone or in use.
    mutating func note(_ sighting: Sighting?, at place: Place) {
        let isRoom = sightings[place] != nil || sightings.count < MartletLimits.sightings
        sightings[place] = isRoom ? sighting : nil
    }

    /// Notes that a visit has removed the directory, so that there are fewer for later rounds.
    mutating func noteRemoved(_ place: Place) {
        sightings[place] = nil
        visits -= 1
    }

    /// Puts a directory back whose visit was interrupted.
    mutating func putBack(_ place: Place) {
        pending[place.serviceDirectory] = [place.instance] + (pending[place.serviceDirectory] ?? [])
    }

    // MARK: -

    private mutating func list(_ directory: URL) {
        let instances = BufferDirectory.instances(in: directory)
        pending[directory] = instances[...]
        let present = Set(instances)
        sightings = sightings.filter { $0.key.serviceDirectory != directory || present.contains($0.key.instance) }
    }

    private mutating func isWorthAVisit(_ place: Place, _ canSend: ([UploadRoute]) -> Bool) -> Bool {
        guard let seen = sightings[place], seen.modified == place.modified,
            !Clock.hasPassed(MartletLimits.sighting, since: seen.time)
        else { return true }
        let routes = seen.routes
        guard !canSend(routes) else { return true }
        awaited.formUnion(routes)
        return false
    }
}

extension stat {
    /// When the file was last changed.
    var modified: UnixNanoseconds {
        UInt64(clamping: modification.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: modification.tv_nsec)
    }
}
