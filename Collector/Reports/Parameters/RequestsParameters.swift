import MartletStorage
import MartletTelemetry

/// The flags of the list of kept requests.
package typealias RequestsParameters = Parameters<RequestsParameter>

extension Parameters<RequestsParameter> {
    package func query(now: UnixNanoseconds) throws(ParameterError) -> RequestsQuery {
        var query = RequestsQuery(
            window: try window(now: now), filter: try filter(),
            order: RequestsQuery.Order(try choice(.sort) ?? .time, ascending: try flag(.ascending)),
            before: self[.before],
            limit: try number(.limit, of: "requests", upTo: RequestsParameter.maxLimit)
                ?? RequestsParameter.defaultLimit)
        query.onlyFailed = try flag(.failed)
        query.slowerThan = try length(.slowerThan)
        query.fasterThan = try length(.fasterThan)
        query.text = self[.search].flatMap { $0.isEmpty ? nil : $0 }
        return query
    }
}

/// The names of the flags of the list of kept requests.
package struct RequestsParameter: RequestParameterName {
    package static let failed = Self(known: "failed")
    package static let slowerThan = Self(known: "slower-than")
    package static let fasterThan = Self(known: "faster-than")
    package static let search = Self(known: "search")
    package static let sort = Self(known: "sort")
    package static let ascending = Self(known: "ascending")
    package static let before = Self(known: "before")
    package static let limit = Self(known: "limit")

    package static let others = [failed, slowerThan, fasterThan, search, sort, ascending, before, limit]

    package var isSwitch: Bool { [.failed, .ascending].contains(self) }

    package static let defaultLimit = 20
    static let maxLimit = 1000

    package let rawValue: String

    package init(known text: String) { rawValue = text }
}
