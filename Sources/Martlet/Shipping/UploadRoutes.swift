import Foundation
import MartletTelemetry

/// The state of the routes to collectors: the waits after failures, the stores behind them, and the routes of the
/// current round.
struct UploadRoutes {
    private var circuits: [UploadRoute: UploadCircuit] = [:]
    private var stores = CollectorStores()
    /// Routes over which nothing is sent in this round.
    private var blocked: Set<UploadRoute> = []
    /// Blocked routes that a batch of this round waits for.
    private(set) var waiting: Set<UploadRoute> = []

    static func all(to collectors: [URL]) -> [UploadRoute] {
        collectors.flatMap { collector in Signal.allCases.map { UploadRoute(address: collector, signal: $0) } }
    }

    /// Begins a round, unless nothing could be sent.
    ///
    /// - Parameters:
    ///   - own: the routes that a round is for.
    ///   - isCallerWaiting: whether to try them early for a caller.
    /// - Returns: `false` if all of them are blocked.
    mutating func begin(over own: [UploadRoute], at now: UInt64, isCallerWaiting: Bool) -> Bool {
        blocked = Set(
            circuits.filter { !$0.value.allows(at: now, isCallerWaiting: isCallerWaiting && own.contains($0.key)) }
                .map(\.key))
        if areBlocked(own) { return false }
        waiting = []
        return true
    }

    /// Returns the route for a batch. `nil` if all possible routes are blocked; in that case the batch waits for them.
    /// The first collector in the list is preferred. A collector that failed is tried again when its wait is over.
    /// While another one accepts batches, it is tried only after a random number of minutes.
    mutating func route(for file: BatchFile, to collectors: [URL], at now: UInt64) -> UploadRoute? {
        let routes = stores.collectors(of: collectors, for: file.place).map {
            UploadRoute(address: $0, signal: file.signal)
        }
        let best = routes.filter { !blocked.contains($0) }.min {
            reluctance(of: $0, at: now) < reluctance(of: $1, at: now)
        }
        if best == nil { waiting.formUnion(routes) }
        return best
    }

    /// Notes that batches wait for routes, which are blocked.
    mutating func noteWaiting(for routes: Set<UploadRoute>) { waiting.formUnion(routes) }

    private func reluctance(of route: UploadRoute, at now: UInt64) -> Int {
        guard let circuit = circuits[route] else { return 0 }
        if !circuit.allows(at: now, isCallerWaiting: false) { return 2 }
        return circuit.mayPreferAgain(at: now) ? 0 : 1
    }

    /// Returns the possible holder to note before an upload.
    func place(of file: BatchFile, over route: UploadRoute, among collectors: [URL]) -> PossibleHolder {
        stores.place(after: file.place, sendingTo: route.address, of: collectors)
    }

    mutating func note(_ answer: UploadAnswer, over route: UploadRoute) { stores.note(answer, of: route.address) }

    mutating func succeed(_ route: UploadRoute) { circuits[route] = nil }

    /// Blocks routes after a failure: only the route of this signal if a wrong path or token may affect only this
    /// signal, otherwise all routes to the collector.
    mutating func fail(
        _ route: UploadRoute, _ time: RetryWait, at now: UInt64, random: () -> Double = { .random(in: 0...1) }
    ) {
        // Both signals wait for the same time, so that the oldest batch is sent first again.
        let (wait, awayShare) = (random(), random())
        for signal in time == .longest ? [route.signal] : Signal.allCases {
            let failed = UploadRoute(address: route.address, signal: signal)
            circuits[failed, default: UploadCircuit()].fail(time, at: now, wait: wait, awayShare: awayShare)
            blocked.insert(failed)
        }
        waiting.insert(route)
    }

    /// Delays routes, and makes a batch wait for them.
    mutating func wait(for routes: [UploadRoute], until time: UInt64) {
        for route in routes { circuits[route] = UploadCircuit(notBefore: time) }
        waiting = Set(routes)
    }

    /// Whether nothing is sent over any of these routes in this round.
    func areBlocked(_ routes: [UploadRoute]) -> Bool { blocked.isSuperset(of: routes) }

    /// When a batch that waits for one of these routes may be sent, in nanoseconds of the monotonic clock; `.max` if
    /// none waits.
    func nextAttempt(over routes: [UploadRoute]) -> UInt64 {
        routes.filter(waiting.contains).compactMap { circuits[$0]?.notBefore }.min() ?? .max
    }
}

/// The route of one signal to one address. A failure blocks a route, and a success unblocks it.
struct UploadRoute: Hashable {
    let address: URL
    let signal: Signal
}

/// The stores of collectors, as far as their answers have named them. They decide which collectors may get a batch. If
/// a collector may already have a batch, the batch goes to another collector only if both have the same store, which
/// counts it once.
struct CollectorStores {
    private var stores: [URL: ShortDigest] = [:]

    /// Notes the store that an answer names. A success without a store comes from a program other than Martlet's
    /// collector.
    mutating func note(_ answer: UploadAnswer, of collector: URL) {
        if let store = answer.store {
            stores[collector] = store
        } else if (200..<300).contains(answer.status) {
            stores[collector] = nil
        }
    }

    /// Returns the collectors of a list that may get a batch.
    ///
    /// - Parameter place: the collector that may have the batch; `nil` if none may.
    func collectors(of list: [URL], for place: PossibleHolder?) -> [URL] {
        // With a single collector there is no choice, and its address need not be hashed.
        guard list.count > 1, let place, let owner = owner(of: place, in: list) else { return list }
        let store = place.store ?? stores[owner]
        return list.filter { $0 == owner || (store != nil && stores[$0] == store) }
    }

    /// Returns the possible holder to note before a batch is sent to a collector of a list. If there was one before,
    /// its store still counts, because the batch goes only to collectors with the same store.
    func place(after place: PossibleHolder?, sendingTo collector: URL, of list: [URL]) -> PossibleHolder {
        if let place, owner(of: place, in: list) != nil { return place }
        return PossibleHolder(address: collector, store: stores[collector])
    }

    /// Returns the collector of a list that a possible holder names. A holder outside the list is ignored: the user has
    /// declared that the list replaces it (`MARTLET_BUFFER_ADOPT`).
    private func owner(of place: PossibleHolder, in list: [URL]) -> URL? {
        list.first { PossibleHolder(address: $0, store: nil).address == place.address }
    }
}

/// A collector that may have a batch which it did not acknowledge. Stored in the batch's name and in the journal.
struct PossibleHolder: Hashable, Sendable {
    /// The digest of the collector's address.
    let address: ShortDigest
    /// The digest of its store's identity; `nil` if the collector had not named it when the batch was sent.
    let store: ShortDigest?

    init(address: URL, store: ShortDigest?) {
        self.address = ShortDigest(of: CollectorAddress.plain(address).absoluteString)
        self.store = store
    }

    // MARK: In a file's name

    var text: String { address.text + (store.map { "." + $0.text } ?? "") }

    /// Parses the digests in a name, which ``text`` joins with a full stop; `nil` if they are not digests.
    init?(digests: ArraySlice<Substring>) {
        let read = digests.compactMap { ShortDigest(text: $0) }
        guard let address = read.first, read.count == digests.count, read.count <= 2 else { return nil }
        self.address = address
        store = read.count == 2 ? read[1] : nil
    }

    // MARK: In the journal

    var word: UInt64 { UInt64(address.value) << 32 | UInt64(store?.value ?? 0) }

    /// `nil` for a word that names no address.
    init?(word: UInt64) {
        guard let address = ShortDigest(value: UInt32(truncatingIfNeeded: word >> 32)) else { return nil }
        self.address = address
        store = ShortDigest(value: UInt32(truncatingIfNeeded: word))
    }
}

/// A digest of an address or of a store's identity, short enough for a file's name: one of four billion, never 0. A
/// collision between the few collectors of a service is too unlikely to matter.
struct ShortDigest: Hashable, Sendable {
    let value: UInt32

    init(of text: String) {
        value = UInt32(SHA256.hexadecimal(text.utf8).prefix(8), radix: 16).map { max($0, 1) } ?? 1
    }

    /// - Parameter store: the value of a collector's ``StoreHeader``; `nil` if that is empty or too long.
    init?(store: String) {
        guard (1...StoreHeader.maxLength).contains(store.utf8.count) else { return nil }
        self.init(of: store)
    }

    init?(value: UInt32) {
        guard value > 0 else { return nil }
        self.value = value
    }

    /// Eight hexadecimal digits.
    var text: String { String(String(0x1_0000_0000 | UInt64(value), radix: 16).dropFirst()) }

    /// Reads ``text``; `nil` for any other text.
    init?(text: some StringProtocol) {
        guard let value = UInt32(text, radix: 16) else { return nil }
        self.init(value: value)
        if self.text != text { return nil }
    }
}

/// The order in which an instance prefers its collectors (rendezvous hashing). Each instance has a different order, so
/// that instances spread evenly, and keeps it for its lifetime. If a collector fails, only the instances that preferred
/// it move, and they spread evenly over the others.
enum CollectorOrder {
    /// Returns the collectors without duplicates, the preferred one first.
    static func ranked(_ collectors: [URL], for instance: String) -> [URL] {
        var seen: Set<URL> = []
        let unique = collectors.filter { seen.insert(CollectorAddress.plain($0)).inserted }
        let ranked = unique.map { (collector: $0, rank: rank(of: $0, for: instance)) }
        return ranked.sorted { $0.rank > $1.rank }.map(\.collector)
    }

    private static func rank(of collector: URL, for instance: String) -> String {
        SHA256.hexadecimal("\(instance) \(CollectorAddress.plain(collector).absoluteString)".utf8)
    }
}

/// The forms of a collector's address.
enum CollectorAddress {
    /// Returns the address as it may be kept, logged and compared: without user and password, and without a `/` at the end.
    static func plain(_ address: URL) -> URL {
        guard var parts = URLComponents(url: address, resolvingAgainstBaseURL: true) else { return address }
        parts.user = nil
        parts.password = nil
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        return parts.url ?? address
    }

    static func text(_ addresses: [URL]) -> String {
        addresses.map { plain($0).absoluteString }.joined(separator: ",")
    }
}
