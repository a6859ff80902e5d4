import Hummingbird
import HummingbirdCore
import MartletReports

extension Request {
    /// The names and values of the query. A `+` is a blank, as forms and most libraries write it, except in a time, which has
    /// no blanks and may have a zone.
    var queryPairs: [(String, String)] {
        let query = URI("/?" + (uri.query ?? "").replacing("+", with: "%20"))
        let times = [ReportParameter.since, .until].map(\.rawValue)
        return query.queryParameters.map { name, value in
            (String(name), String(times.contains(String(name)) ? value.replacing(" ", with: "+") : value))
        }
    }
}
