import Foundation

/// The order in which an instance prefers its collectors (rendezvous hashing): each instance has its own, so that instances
/// spread evenly, and one keeps its order as long as it lives. Without a collector, only the instances that preferred it go to
/// others, and each of the others gets a like share of them.
enum CollectorOrder {
    /// Returns the collectors, the preferred one first, each once.
    static func of(_ collectors: [URL], for instance: String) -> [URL] {
        var seen: Set<URL> = []
        let unique = collectors.filter { seen.insert(CollectorAddress.plain($0)).inserted }
        let ranked = unique.map { (collector: $0, rank: rank(of: $0, for: instance)) }
        return ranked.sorted { $0.rank > $1.rank }.map(\.collector)
    }

    private static func rank(of collector: URL, for instance: String) -> String {
        SHA256.hexadecimal("\(instance) \(CollectorAddress.plain(collector).absoluteString)".utf8)
    }
}
