import MartletTelemetry

/// A batch that came with cumulative figures.
struct CumulativeArrival: Sendable {
    let sender: UInt64
    /// The time at which it came, by the clock of the collector that took it.
    let time: Int64
    let resource: TelemetryResource
    /// The time of the sender's account of itself that came with it; 0 without one.
    let reading: Int64
}

extension CumulativeArrival {
    init(_ reader: inout RowReader) throws {
        (sender, time) = (try reader.number(), try reader.number())
        let (service, environment) = (try reader.text(), try reader.text().presence)
        let (version, instance) = (try reader.text().presence, try reader.text())
        resource = TelemetryResource(service: service, version: version, environment: environment, instance: instance)
        reading = try reader.number()
    }
}

extension TableRows {
    /// Appends a row of `arrival`.
    mutating func append(_ arrival: CumulativeArrival, counted: Bool) {
        append { row in
            row.number(StoredHour.of(arrival.time))
            row.number(arrival.sender)
            row.number(arrival.time)
            for text in [
                arrival.resource.service, arrival.resource.environment, arrival.resource.version,
                arrival.resource.instance,
            ] { row.text(text) }
            row.number(arrival.reading)
            row.flag(counted)
        }
    }
}
