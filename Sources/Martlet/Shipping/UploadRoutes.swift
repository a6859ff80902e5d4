import Foundation
import MartletTelemetry

/// The state of the routes to collectors: the waits after failures, the stores behind them, and the routes of the round under
/// way.
struct UploadRoutes {
    private var circuits: [UploadRoute: UploadCircuit] = [:]
    private var stores = CollectorStores()
    /// Routes over which nothing is sent in this round.
    private var blocked: Set<UploadRoute> = []
    /// Held routes that a batch of this round waits for.
    private(set) var waiting: Set<UploadRoute> = []

    static func all(to collectors: [URL]) -> [UploadRoute] {
        collectors.flatMap { collector in Signal.allCases.map { UploadRoute(address: collector, signal: $0) } }
    }

    /// Begins a round, unless it would have nothing to send.
    ///
    /// - Parameters:
    ///   - own: the routes that a round is for.
    ///   - isCallerWaiting: whether these are tried ahead of time for a caller.
    /// - Returns: `false` if all of them are blocked.
    mutating func begin(over own: [UploadRoute], at now: UInt64, isCallerWaiting: Bool) -> Bool {
        blocked = Set(
            circuits.filter { !$0.value.allows(at: now, isCallerWaiting: isCallerWaiting && own.contains($0.key)) }
                .map(\.key))
        if areBlocked(own) { return false }
        waiting = []
        return true
    }

    /// Returns the route for a batch; `nil` if all that it may take are blocked, and then it waits for them. The first collector
    /// of the list is preferred. One that failed is asked again when its wait is over, and as long as another one takes
    /// batches only after some random minutes.
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

    private func reluctance(of route: UploadRoute, at now: UInt64) -> Int {
        guard let circuit = circuits[route] else { return 0 }
        if !circuit.allows(at: now, isCallerWaiting: false) { return 2 }
        return circuit.mayPreferAgain(at: now) ? 0 : 1
    }

    /// Returns the place to note ahead of an upload.
    func place(of file: BatchFile, over route: UploadRoute, among collectors: [URL]) -> PossibleHolder {
        stores.place(after: file.place, sendingTo: route.address, of: collectors)
    }

    mutating func note(_ answer: UploadAnswer, over route: UploadRoute) { stores.note(answer, of: route.address) }

    mutating func succeed(_ route: UploadRoute) { circuits[route] = nil }

    /// Holds routes after a failure: that of one signal if a wrong path or token may concern it alone, else all to the
    /// collector.
    mutating func fail(
        _ route: UploadRoute, _ time: RetryWait, at now: UInt64, random: () -> Double = { .random(in: 0...1) }
    ) {
        // Both signals wait for the same time: the oldest batch goes first again.
        let (wait, awayShare) = (random(), random())
        for signal in time == .longest ? [route.signal] : Signal.allCases {
            let failed = UploadRoute(address: route.address, signal: signal)
            circuits[failed, default: UploadCircuit()].fail(time, at: now, wait: wait, awayShare: awayShare)
            blocked.insert(failed)
        }
        waiting.insert(route)
    }

    /// Delays routes, and lets a batch wait for them.
    mutating func wait(for routes: [UploadRoute], until time: UInt64) {
        for route in routes { circuits[route] = UploadCircuit(notBefore: time) }
        waiting = Set(routes)
    }

    /// Whether nothing is sent over any of these routes in this round.
    func areBlocked(_ routes: [UploadRoute]) -> Bool { blocked.isSuperset(of: routes) }

    /// The time when a batch that waits for one of these routes may be sent, in nanoseconds of the monotonic clock; `.max`
    /// while none does.
    func nextAttempt(over routes: [UploadRoute]) -> UInt64 {
        routes.filter(waiting.contains).compactMap { circuits[$0]?.notBefore }.min() ?? .max
    }
}

/// One signal on its way to one address. A failure holds back a route, and a success lets it through again.
struct UploadRoute: Hashable {
    let address: URL
    let signal: Signal
}

/// The stores of collectors, as far as their answers have told them. They decide which collectors may get a batch: a batch that
/// a collector may have goes to another one only if both have the same store, where it counts once.
struct CollectorStores {
    private var stores: [URL: ShortDigest] = [:]

    /// Notes the store that an answer names. A success without one comes from another program than Martlet's collector.
    mutating func note(_ answer: UploadAnswer, of collector: URL) {
        if let store = answer.store {
            stores[collector] = store
        } else if (200..<300).contains(answer.status) {
            stores[collector] = nil
        }
    }

    /// Returns the collectors of a list that may get a batch.
    ///
    /// - Parameter place: the collector that may have the batch; `nil` if none has.
    func collectors(of list: [URL], for place: PossibleHolder?) -> [URL] {
        // With a single collector there is nothing to choose, and its address is not hashed.
        guard list.count > 1, let place, let owner = owner(of: place, in: list) else { return list }
        let store = place.store ?? stores[owner]
        return list.filter { $0 == owner || (store != nil && stores[$0] == store) }
    }

    /// Returns the place that is to be noted before a batch is sent to a collector of a list. The store of the place where it
    /// may be stays the one that counts: the batch only goes to collectors with the same.
    func place(after place: PossibleHolder?, sendingTo collector: URL, of list: [URL]) -> PossibleHolder {
        if let place, owner(of: place, in: list) != nil { return place }
        return PossibleHolder(address: collector, store: stores[collector])
    }

    /// Returns the collector of a list that a place names. A place outside of the list does not count: a person said that the
    /// list replaces it (`MARTLET_BUFFER_ADOPT`).
    private func owner(of place: PossibleHolder, in list: [URL]) -> URL? {
        list.first { PossibleHolder(address: $0, store: nil).address == place.address }
    }
}

/// A collector that may have a batch which it did not acknowledge, as the batch's name and the journal have it.
struct PossibleHolder: Hashable, Sendable {
    /// The digest of the collector's address.
    let address: ShortDigest
    /// The digest of its store's identity; `nil` if no answer of the collector had told it when the batch was sent.
    let store: ShortDigest?

    init(address: URL, store: ShortDigest?) {
        self.address = ShortDigest(of: CollectorAddress.plain(address).absoluteString)
        self.store = store
    }

    // MARK: In a file's name

    var text: String { address.text + (store.map { "." + $0.text } ?? "") }

    /// Reads the digests of a name, which ``text`` joins with a full stop; `nil` if they are no such digests.
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

/// A digest of an address or of a store's identity that is short enough for a file's name: one of four billion, never 0. Two
/// of the few collectors of a service have the same one by chance too rarely to matter.
struct ShortDigest: Hashable, Sendable {
    let value: UInt32

    init(of text: String) {
        value = UInt32(SHA256.hexadecimal(text.utf8).prefix(8), radix: 16).map { max($0, 1) } ?? 1
    }

    /// - Parameter store: the value of a collector's ``StoreHeader``; `nil` if it is empty or too long.
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

/// The order in which an instance prefers its collectors (rendezvous hashing): each instance has its own, so that instances
/// spread evenly, and one keeps its order as long as it lives. Without a collector, only the instances that preferred it go to
/// others, and each of the others gets a like share of them.
enum CollectorOrder {
    /// Returns the collectors, the preferred one first, each once.
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
