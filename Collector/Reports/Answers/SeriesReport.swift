import MartletStorage
import MartletTelemetry

/// The figures of groups in each slot of time. Its JSON is a fixed format.
package struct SeriesReport: Sendable, Equatable, Codable {
    /// The window of the figures, RFC 3339, UTC.
    package var from: String
    package var to: String
    /// See ``Report/ratesSince``.
    package var ratesSince: String?
    /// See ``Report/instancesSince``.
    package var instancesSince: String?
    package var by: [Dimension]
    /// The length of a slot, in seconds. The window cuts the first and the last slot short.
    package var step: Double
    @NullIfUnknown package var completeness: Double?
    /// The end of each slot, RFC 3339, UTC.
    package var ends: [String]
    /// The number of rows, including those that `top` cut off.
    package var rowCount: Int
    package var rows: [Row]
    /// The totals of clients and of servers in the window, including rows that `top` cut off. A kind without requests is missing.
    package var totalsByKind: [RequestKind: RequestMeasures]

    /// The figures of one group.
    package struct Row: Sendable, Equatable, Codable {
        package var dimensions: [Dimension: String?]
        /// The measures of each slot; `nil` for a slot without requests. The impact is the slot's share of the group's time.
        package var slots: [RequestMeasures?]

        private enum CodingKeys: String, CodingKey {
            case slots
        }

        init(dimensions: [Dimension: String?], slots: [RequestMeasures?]) {
            self.dimensions = dimensions
            self.slots = slots
        }

        package init(from decoder: any Decoder) throws {
            dimensions = try DimensionValues.decode(from: decoder)
            slots = try decoder.container(keyedBy: CodingKeys.self).decode([RequestMeasures?].self, forKey: .slots)
        }

        package func encode(to encoder: any Encoder) throws {
            try DimensionValues.encode(dimensions, to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(slots, forKey: .slots)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case from, to, by, completeness, ends, rows
        case ratesSince = "rates_since"
        case instancesSince = "instances_since"
        case step = "step_seconds"
        case rowCount = "row_count"
        case totalsByKind = "totals_by_kind"
    }

    /// Returns `nil` if the answer has no slots.
    package init?(_ answer: StatisticsAnswer, for query: StatisticsQuery) {
        guard let slots = answer.slots else { return nil }
        let windows = (0..<slots.grid.count).map { slots.grid.window(ofSlot: $0) }
        from = TimeText.exact(answer.window.from)
        to = TimeText.exact(answer.window.to)
        ratesSince = answer.ratesSince
        instancesSince = answer.sendersSince.map(TimeText.exact)
        by = query.by
        step = Double(slots.grid.step) / 1e9
        completeness = answer.account.completeness
        ends = windows.map { TimeText.exact($0.to) }
        rowCount = answer.groupCount
        let total = answer.total
        totalsByKind = answer.totals.mapValues { group in
            var measures = group.measures(seconds: answer.ratedWindow.seconds)
            measures.impact = group.impact(among: total)
            return measures
        }
        rows = zip(answer.groups, slots.groups).map { group, slots in
            Row(
                dimensions: Dictionary(zip(query.by, group.values)) { first, _ in first },
                slots: zip(slots, windows).map { slot, window in
                    guard !slot.isEmpty else { return nil }
                    var measures = slot.measures(seconds: window.since(answer.dataSince).seconds)
                    measures.impact = slot.impact(among: group)
                    return measures
                })
        }
    }
}

/// The values of a dimension. Its JSON is a fixed format.
package struct ValuesReport: Sendable, Equatable, Codable {
    package var dimension: Dimension
    package var values: [String]
    /// Whether values were left out.
    package var isThereMore: Bool

    private enum CodingKeys: String, CodingKey {
        case dimension, values
        case isThereMore = "more"
    }

    package init(_ answer: ValuesAnswer, of dimension: Dimension) {
        self.dimension = dimension
        values = answer.values
        isThereMore = answer.isThereMore
    }
}
