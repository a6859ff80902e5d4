import Foundation
import FoundationNetworking

@testable import Martlet
@testable import MartletTelemetry

/// Begin and end of a request, with a record of the process for the next one and without it (`MARTLET_CRASHES=off`). The
/// difference is what watching for crashes costs each request.
final class Slots: Contender {
    enum Request: String, CaseIterable {
        /// Only the two calls, with a name that is there.
        case named = "begin and end in the record"
        /// A request of `URLSession` from its first loader to its end, without recording it.
        case observed = "URLSession's request in flight"
    }

    let name: String
    private let request: Request
    private let isKept: Bool
    private let folder: URL
    /// The contenders take turns, so the record of a round replaces that of the round before.
    private static let record = Lock<ProcessRecord?>(nil)

    init(_ request: Request, isKept: Bool, in folder: URL) {
        name = "Martlet: \(request.rawValue), crashes \(isKept ? "on" : "off")"
        (self.request, self.isKept, self.folder) = (request, isKept, folder)
    }

    func prepare() {
        Self.record.withLock { record in
            record?.remove()
            record = isKept ? ProcessRecord(in: folder) : nil
        }
    }

    func run(_ operations: Int) {
        switch request {
        case .named: runNamed(operations)
        case .observed: runObserved(operations)
        }
    }

    private func runNamed(_ operations: Int) {
        for _ in 0..<operations {
            let slot = RequestSlot(
                .server, start: 1_800_000_000_000_000_000, name: "GET /users/{id}/orders", isRoute: true)
            slot.end()
        }
    }

    private func runObserved(_ operations: Int) {
        guard let url = URL(string: "http://api.example.com:8080/users/4711/orders") else { return }
        let (request, sampler) = (URLRequest(url: url), TraceSampler(rate: 0))
        for _ in 0..<operations {
            let observation = RequestObservation()
            observation.load(request, from: url, sampler: sampler)
            _ = observation.finish()
        }
    }
}
