import MartletOTLP
import MartletStorage
import MartletTelemetry

/// Decodes the ends of processes of a service. Each point of the metric is one end.
struct ProcessEndDecoding {
    private let limits: IntakeLimits
    private(set) var ends: [ReportedEnd] = []

    init(_ limits: IntakeLimits) { self.limits = limits }

    /// - Parameter version: the version of the sender, which is that of the process that ended.
    mutating func take(_ metric: OTLPMetric, version: String?, _ refusals: inout Refusals) {
        guard case .sum(let sum)? = metric.data, sum.aggregationTemporality == .delta else {
            return refusals.add("ends of processes must be sent as a delta sum", count: metric.pointCount)
        }
        guard ends.count + sum.dataPoints.count <= IntakeLimits.maxProcessEnds else {
            return refusals.add("the request has too many ends of processes", count: metric.pointCount)
        }
        for point in sum.dataPoints {
            do throws(PointRefusal) {
                guard point.isOne else {
                    refusals.ignore(1)
                    continue
                }
                ends.append(try end(point, version: version))
            } catch {
                refusals.add(error.reason)
            }
        }
    }

    private func end(_ point: OTLPNumberDataPoint, version: String?) throws(PointRefusal) -> ReportedEnd {
        guard let instance = point.attributes.text(AttributeName.endedInstance),
            instance.utf8.count <= limits.maxAttributeBytes
        else { throw PointRefusal(reason: "the end of a process does not name it, or its name is too long") }
        guard let time = point.endTime else { throw PointRefusal(reason: "the end of a process has no time") }
        try limits.times.check(time, time)
        return ReportedEnd(instance: instance, version: version, time: time, point.attributes)
    }
}

extension OTLPNumberDataPoint {
    /// The time of the end. A sender that does not name it found out in the interval of the point.
    fileprivate var endTime: UnixNanoseconds? {
        let named = attributes.integer(AttributeName.endedTime).flatMap { UnixNanoseconds(exactly: $0) }
        let time = named ?? (startTimeUnixNano > 0 ? min(startTimeUnixNano, timeUnixNano) : timeUnixNano)
        return time > 0 ? time : nil
    }

    /// Whether the point counts an end.
    fileprivate var isOne: Bool {
        switch value {
        case .asInt(let number)?: number > 0
        case .asDouble(let number)?: number > 0
        case nil: false
        }
    }
}

extension ReportedEnd {
    fileprivate init(instance: String, version: String?, time: UnixNanoseconds, _ attributes: [OTLPKeyValue]) {
        func cut(_ text: String?) -> String? { text?.storable(upTo: IntakeLimits.endTextBytes) }
        let reason = attributes.text(AttributeName.ledgerReason) ?? ""
        // Others than Martlet's agents may name the signal as the reason.
        let signal = attributes.text(AttributeName.endedSignal) ?? (reason.hasPrefix("SIG") ? reason : nil)
        self.init(
            instance: instance, version: version, time: time, cause: EndCause(reason: reason), signal: cut(signal),
            function: cut(
                attributes.text(AttributeName.codeFunction) ?? attributes.first(of: AttributeName.endedPlaces)),
            file: cut(attributes.text(AttributeName.codeFile)),
            line: attributes.integer(AttributeName.codeLine).flatMap { (1...1_000_000_000).contains($0) ? $0 : nil },
            endpoint: cut(attributes.requestInFlight))
    }
}

extension EndCause {
    fileprivate init(reason: String) {
        switch reason {
        case "SIGKILL": self = .killed
        case _ where reason.hasPrefix("SIG"): self = .signal
        default: self = Self(rawValue: reason) ?? .unknown
        }
    }
}

extension [OTLPKeyValue] {
    /// Returns the texts of an attribute that is a list.
    private func texts(_ name: String) -> [String] {
        guard case .arrayValue(let array)? = first(where: { $0.key == name })?.value.value else { return [] }
        return array.values.compactMap { value in
            if case .stringValue(let text)? = value.value { text } else { nil }
        }
    }

    fileprivate func first(of name: String) -> String? { texts(name).first }

    /// The method and endpoint of the requests in flight that the process served, or else made. `nil` if these were of several
    /// endpoints, because it is not known which of them ended the process.
    fileprivate var requestInFlight: String? {
        let requests = texts(AttributeName.endedRequests).map { $0.split(separator: " ", maxSplits: 2) }
            .filter { $0.count == 3 }
        let served = requests.filter { $0[1] == "server" }
        let named = served.isEmpty ? requests : served
        return named.count == 1 ? named.first.map { String($0[2]) } : nil
    }
}
